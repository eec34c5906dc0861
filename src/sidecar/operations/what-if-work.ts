import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { Sql } from '../../store/database/database.ts';
import { labelledReviews } from '../../store/event-reviews.ts';
import type { Work } from '../accounts/metering.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import type { PromisesAnswer, WhatIfAnswer, WhatIfBody } from '../wire/schema/what-if-schema.ts';
import type { Backtests, RaisedEvents, ScoringDetector } from './backtests.ts';
import { verdictOf } from './compared-raised.ts';
import { raisedFields } from './detector-what-if.ts';
import { labelledEvents, labelsRaised } from './labels-raised.ts';
import type { Operations } from './operations.ts';
import { PROMISES } from './proposed-rules.ts';
import { OBSERVATIONS_MAX, whatIfTokens } from './scoring-price.ts';
import { shownEvent } from './shown-records.ts';

/** What is tried, on which detectors; labels are in the store. */
export interface WhatIfParts<Body = WhatIfBody> {
  readonly body: Body;
  readonly detectorsText: string;
  readonly store: Sql;
  readonly owner: string;
  /** Throws an HttpProblem 403 for a detector whose model the key may not use. */
  readonly allow: (detector: ScoringDetector) => void;
}

type Known = Pick<Operations, 'reader' | 'detectors'>;
type SeriesRange = Pick<WhatIfBody, 'series' | 'from' | 'to'>;

/** The work of a what-if: kept values of a series are scored by the settings of its detector, and by changed ones. */
export async function whatIfWork(known: Known, backtests: Backtests, parts: WhatIfParts): Promise<Work> {
  const { series, changes } = parts.body;
  const tried = await seriesToTry(known, backtests, parts);
  const { detector, from, to, question } = tried;
  const tokens = whatIfTokens(tried.values);
  return {
    tokens,
    async run(signal) {
      const result = await backtests.whatIf(
        { ...question, alternatives: [{}, changes] },
        { owner: parts.owner, signal },
      );
      if (result.kind === 'problems') throw refused(result.problems);
      const { observations, alternatives } = result;
      const [before, after] = alternatives;
      const labels = labelsRaised(await labelsOf(tried, parts), { before: before.events, after: after.events });
      const scored = { series, detector: detector.name, from, to, observations };
      return { ...scored, before: shownRaised(before), after: shownRaised(after), labels, text: after.text, ...tokens };
    },
  };
}

/** The work of a promise curve: which events of a series there are by each of several promises. */
export async function promisesWork(
  known: Known,
  backtests: Backtests,
  parts: WhatIfParts<SeriesRange>,
): Promise<Work<PromisesAnswer>> {
  const { series } = parts.body;
  const tried = await seriesToTry(known, backtests, parts);
  const { detector, from, to, question, alarmsPerWeek } = tried;
  const tokens = whatIfTokens(tried.values, PROMISES.length);
  return {
    tokens,
    async run(signal) {
      const alternatives = PROMISES.map(([name]) => ({ false_alarms: name }));
      const result = await backtests.whatIf({ ...question, alternatives }, { owner: parts.owner, signal });
      if (result.kind === 'problems') throw refused(result.problems);
      const realOf = verdictOf(await labelsOf(tried, parts));
      const promises = PROMISES.map(([name, perWeek], i) => ({
        false_alarms: name,
        per_week: perWeek,
        events: result.alternatives[i].events.map((event) => ({ ...raisedFields(event), real: realOf(event) })),
      }));
      const scored = { series, detector: detector.name, from, to, observations: result.observations };
      return { ...scored, promised_per_week: alarmsPerWeek, promises, ...tokens };
    },
  };
}

/** Kept values of a series, and the detector that scores it. Throws an HttpProblem where they cannot be tried. */
async function seriesToTry(
  { reader, detectors }: Known,
  backtests: Backtests,
  { body, detectorsText, allow }: WhatIfParts<SeriesRange>,
) {
  const { series } = body;
  const range = { series, fromMs: body.from ?? null, toMs: body.to ?? null, pointsMax: OBSERVATIONS_MAX };
  const kept = await reader.scores(range);
  if (kept === null) throw new HttpProblem(404, `There are no scores of series ${series}`);
  const { fromMs: from, toMs: to, columns, bucketMs } = kept;
  if (bucketMs !== null) {
    const text = `at most ${OBSERVATIONS_MAX} values are scored again: shorten the range`;
    throw invalidRequest([fieldProblem(['body', 'from'], text)]);
  }
  const described = await detectors.describe(detectorsText);
  if (described.kind === 'problems') throw refused(described.problems);
  const found = await backtests.detectorOf(described.detectors, series);
  if (found.kind === 'problems') throw refused(found.problems);
  const { detector } = found;
  allow(detector);
  const { group, alarmsPerWeek } = described.detectors.find(({ name }) => name === detector.name)!;
  if (group !== null) throw refused([`${detector.name} scores groups: its groups are tried together, by a job`]);
  const past = [{ series, timestamps: columns.timestamp, values: columns.value }];
  return {
    detector,
    from,
    to,
    alarmsPerWeek,
    values: columns.value.length,
    question: { past, group, detectorsText, detector },
  };
}

async function labelsOf(
  { from, to }: { readonly from: number; readonly to: number },
  { store, body }: Pick<WhatIfParts<SeriesRange>, 'store' | 'body'>,
) {
  const reviews = await labelledReviews(store, { fromMs: from, toMs: to });
  return labelledEvents(reviews).filter(({ event }) => event.series === body.series);
}

function refused(problems: readonly string[]): HttpProblem {
  return invalidRequest(problems.map((problem) => fieldProblem(['body', 'changes'], problem)));
}

function shownRaised({ events, alarms, weeks }: RaisedEvents): WhatIfAnswer['before'] {
  const perWeek = (count: number) => (weeks > 0 ? count / weeks : null);
  const rates = { events_per_week: perWeek(events.length), alarms_per_week: perWeek(alarms) };
  return { events: events.map(raisedEvent), alarms, ...rates };
}

function raisedEvent(event: AnomalyEvent): WhatIfAnswer['before']['events'][number] {
  const { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, ...shown } = shownEvent(event);
  const { summary, started_at, ended_at, peak_at } = shown;
  return { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, summary, started_at, ended_at, peak_at };
}
