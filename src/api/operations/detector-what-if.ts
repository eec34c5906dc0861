import type { HistoryReader, SeriesSelection } from '../../history/port/history-port.ts';
import { ALL_EVENTS, type EventRows } from '../../history/port/span-port.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { patternProblem } from '../../records/series/series-pattern.ts';
import type { Sql } from '../../store/database/database.ts';
import { labelledReviews } from '../../store/reviews/event-reviews.ts';
import type { TokenCount } from '../accounts/token-count.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import {
  type DetectorWhatIf,
  WHAT_IF_EVENTS_MAX,
  WHAT_IF_SERIES_MAX,
  type WhatIfJobBody,
} from '../wire/schema/operations/what-if-schema.ts';
import type { Backtests, KeptValues, ScoredAlternative, ScoringDetector, ScoringTurn } from './backtests.ts';
import { comparedRaised, differingFirst, labelledEvents, labelsRaised } from './labels-raised.ts';
import type { Operations } from './operations.ts';
import { OBSERVATIONS_MAX, whatIfTokens } from './scoring-price.ts';

/** Values of series that are scored together: as many forecasts are made at once, and one step back is cheap. */
const VALUES_AT_ONCE = 50_000;
const PAGE_SERIES = 500;

export interface DetectorWhatIfParts {
  readonly operations: Pick<Operations, 'reader' | 'detectors'>;
  readonly backtests: Backtests;
  readonly store: Sql;
}

export interface DetectorQuestion {
  readonly body: WhatIfJobBody;
  /** The detectors file that both settings change. */
  readonly detectorsText: string;
}

interface DetectorTurn extends ScoringTurn {
  /** Called with the series that were scored, of all that will be. */
  readonly onProgress: (progress: { readonly step: number; readonly steps: number }) => void;
}

/** Series that are scored together: alone where the group is null. */
interface ScoredUnit {
  readonly group: string | null;
  readonly series: readonly string[];
}

/** Throws an HttpProblem for settings, or a detector, that cannot be tried. */
export async function detectorToTry(
  { operations: { detectors, reader }, backtests }: Pick<DetectorWhatIfParts, 'operations' | 'backtests'>,
  { body, detectorsText }: DetectorQuestion,
): Promise<{ readonly detector: ScoringDetector; readonly grouped: boolean }> {
  const { detector: name, match, from, to } = body;
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidRequest([fieldProblem(['body', 'from'], `from must be at most to, which is ${to}`)]);
  }
  const problem = match === undefined ? null : patternProblem(match);
  if (problem !== null) throw invalidRequest([fieldProblem(['body', 'match'], `match must be ${problem}`)]);
  const described = await detectors.describe(detectorsText);
  if (described.kind === 'problems') throw refused('detector', described.problems);
  const wanted = described.detectors.find((detector) => detector.name === name);
  if (wanted === undefined) throw new HttpProblem(404, `There is no detector ${name}`);
  const page = await reader.listSeries({ ...SELECTION, detector: name, match: match ?? null, limit: 1 });
  if (page.series.length === 0) throw new HttpProblem(404, `No scores of such series of ${name} are kept`);
  const found = await backtests.detectorOf(described.detectors, page.series[0].series);
  if (found.kind === 'problems') throw refused('detector', found.problems);
  return { detector: found.detector, grouped: wanted.group !== null };
}

/** Scores what is kept of all series of a detector by two settings, and compares what they raise. */
export async function tryOnDetector(
  parts: DetectorWhatIfParts,
  question: DetectorQuestion,
  { onProgress, ...turn }: DetectorTurn,
): Promise<{ readonly tokens: TokenCount; readonly answer: DetectorWhatIf }> {
  const { operations, backtests, store } = parts;
  const { reader } = operations;
  const { body, detectorsText } = question;
  const { detector, grouped } = await detectorToTry(parts, question);
  const { units, leftOut } = grouped ? await groupUnits(reader, body) : await singleUnits(reader, body);
  const steps = units.reduce((sum, { series }) => sum + series.length, 0);
  const alternatives = [body.before ?? {}, body.after];
  const fromMs = body.from ?? null;
  const newestMs = body.to ?? (await reader.standing()).newestMs ?? 0;
  // As much before the range calibrates, as what the stream knew then.
  const leadMs = fromMs === null ? 0 : Math.max(0, newestMs - fromMs);
  const total = new Total();
  let tooLong = 0;
  let done = 0;
  const score = async (past: readonly KeptValues[], group: string | null) => {
    if (past.length > 0) {
      const scored = await backtests.whatIf({ past, group, detectorsText, detector, alternatives, fromMs }, turn);
      if (scored.kind === 'problems') throw refused('after', scored.problems);
      total.add(past, scored.alternatives);
    }
    onProgress({ step: done, steps });
  };
  let waiting: KeptValues[] = [];
  for (const { group, series } of units) {
    for (const name of series) {
      turn.signal.throwIfAborted();
      const kept =
        (await keptValues(reader, name, { ...body, ...(fromMs !== null && { from: fromMs - leadMs }) })) ??
        (await keptValues(reader, name, body));
      done++;
      if (kept === null) tooLong++;
      else if (kept.values.length > 0) waiting.push(kept);
    }
    if (group === null && waiting.reduce((sum, { values }) => sum + values.length, 0) < VALUES_AT_ONCE) continue;
    await score(waiting, group);
    waiting = [];
  }
  if (waiting.length > 0) await score(waiting, null);
  const from = Math.max(total.fromMs, fromMs ?? 0);
  const { toMs: to } = total;
  const reviews = await labelledReviews(store, { fromMs: from, toMs: to + 1 });
  const labelled = labelledEvents(reviews).filter(({ event }) => event.detector === detector.name);
  const { before, after } = total;
  const compared = comparedRaised({ before: before.events, after: after.events }, labelled);
  const count = (wanted: string) => compared.filter(({ raisedBy }) => raisedBy === wanted).length;
  const tokens = whatIfTokens(total.observations);
  const answer = {
    detector: detector.name,
    from,
    to,
    scored_from: total.before.scoredFromMs,
    stream_events: await raisedByStream(reader, body, { from, to }),
    observations: total.observations,
    series: total.series,
    groups: grouped ? units.length : 0,
    series_left_out: leftOut + tooLong,
    before: { changes: body.before ?? {}, ...sumOf(before) },
    after: { changes: body.after, ...sumOf(after) },
    only_before: count('before'),
    only_after: count('after'),
    both: count('both'),
    labels: labelsRaised(labelled, { before: before.events, after: after.events }),
    events: differingFirst(compared)
      .slice(0, WHAT_IF_EVENTS_MAX)
      .map(({ event, raisedBy, real }) => {
        const { series, group } = event;
        return { series, group, ...raisedFields(event), raised_by: raisedBy, real };
      }),
    ...tokens,
  };
  return { tokens, answer };
}

const SELECTION: SeriesSelection = {
  detector: null,
  group: null,
  match: null,
  search: null,
  alarm: false,
  sort: 'name',
  recent: 0,
  limit: PAGE_SERIES,
  after: null,
};

interface PlannedUnits {
  readonly units: readonly ScoredUnit[];
  /** Series beyond the limit. */
  readonly leftOut: number;
}

async function singleUnits(reader: HistoryReader, { detector, match }: WhatIfJobBody): Promise<PlannedUnits> {
  const { names, total } = await namesOf(reader, { ...SELECTION, detector, match: match ?? null });
  return { units: names.map((name) => ({ group: null, series: [name] })), leftOut: total - names.length };
}

/** Groups are scored as a whole, or not at all. */
async function groupUnits(reader: HistoryReader, { detector, match }: WhatIfJobBody): Promise<PlannedUnits> {
  const groups = await reader.listGroups({ detector, match: match ?? null, limit: WHAT_IF_SERIES_MAX });
  const units: ScoredUnit[] = [];
  let [chosen, leftOut] = [0, 0];
  for (const { group, members } of groups) {
    if (chosen + members > WHAT_IF_SERIES_MAX) leftOut += members;
    else {
      const { names } = await namesOf(reader, { ...SELECTION, detector, group });
      chosen += names.length;
      units.push({ group, series: names });
    }
  }
  return { units, leftOut };
}

async function namesOf(reader: HistoryReader, selection: SeriesSelection) {
  const names: string[] = [];
  let total = 0;
  let after: SeriesSelection['after'] = null;
  do {
    const limit = Math.min(PAGE_SERIES, WHAT_IF_SERIES_MAX - names.length);
    const page = await reader.listSeries({ ...selection, limit, after });
    if (after === null) total = page.total;
    names.push(...page.series.map(({ series }) => series));
    after = page.next;
  } while (after !== null && names.length < WHAT_IF_SERIES_MAX);
  return { names, total };
}

/** null if there are more values than one series may have. */
async function keptValues(
  reader: HistoryReader,
  series: string,
  { from, to }: Pick<WhatIfJobBody, 'from' | 'to'>,
): Promise<KeptValues | null> {
  const kept = await reader.scores({ series, fromMs: from ?? null, toMs: to ?? null, pointsMax: OBSERVATIONS_MAX });
  if (kept?.bucketMs != null) return null;
  const { timestamp, value } = kept?.columns ?? { timestamp: new Float64Array(), value: new Float64Array() };
  return { series, timestamps: timestamp, values: value };
}

interface SummedAlternative extends ScoredAlternative {
  readonly events: AnomalyEvent[];
}

const NOTHING: ScoredAlternative = { events: [], alarms: 0, weeks: 0, scoredFromMs: null, text: '' };

/** Events that both settings raised so far. */
class Total {
  observations = 0;
  series = 0;
  fromMs = Number.POSITIVE_INFINITY;
  toMs = 0;
  before: SummedAlternative = { ...NOTHING, events: [] };
  after: SummedAlternative = { ...NOTHING, events: [] };

  add(past: readonly KeptValues[], [before, after]: readonly ScoredAlternative[]): void {
    for (const { timestamps, values } of past) {
      this.observations += values.length;
      this.fromMs = Math.min(this.fromMs, timestamps[0]);
      this.toMs = Math.max(this.toMs, timestamps[timestamps.length - 1]);
    }
    this.series += past.length;
    this.before = summed(this.before, before);
    this.after = summed(this.after, after);
  }
}

function summed(sum: SummedAlternative, next: ScoredAlternative): SummedAlternative {
  sum.events.push(...next.events);
  const firsts = [sum.scoredFromMs, next.scoredFromMs].filter((first) => first !== null);
  return {
    events: sum.events,
    alarms: sum.alarms + next.alarms,
    weeks: sum.weeks + next.weeks,
    scoredFromMs: firsts.length === 0 ? null : Math.min(...firsts),
    text: next.text,
  };
}

async function raisedByStream(
  reader: HistoryReader,
  { detector, match }: WhatIfJobBody,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  let count = 0;
  const range = { ...ALL_EVENTS, detector, fromMs: from, toMs: to };
  for (let after: SeriesSelection['after'] = null; ; ) {
    const page: EventRows = await reader.listEvents({ ...range, match: match ?? null, after });
    count += page.events.filter(({ startedAtMs }) => startedAtMs >= from).length;
    if (page.next === null) return count;
    after = page.next;
  }
}

function sumOf({ events, alarms, weeks, text }: ScoredAlternative) {
  const perWeek = (count: number) => (weeks > 0 ? count / weeks : null);
  return {
    events: events.length,
    alarms,
    events_per_week: perWeek(events.length),
    alarms_per_week: perWeek(alarms),
    text,
  };
}

function raisedFields(event: AnomalyEvent) {
  const { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, summary } = event;
  return { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, summary };
}

function refused(field: string, problems: readonly string[]): HttpProblem {
  return invalidRequest(problems.map((problem) => fieldProblem(['body', field], problem)));
}
