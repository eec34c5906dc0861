import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { ALARM_STATE, judgeRow, type SeasonAlarm, type Unusualness, type Verdict } from '../alarm/alarm.ts';
import { GROUP_SCALES } from '../alarm/group-unusualness.ts';
import { roundToBfloat16 } from '../calibration/bfloat16.ts';
import { recordResolution } from '../calibration/resolution.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { judgeAlone } from '../event/alarm/judge-alone.ts';
import { EventTracker } from '../event/event-tracker.ts';
import { recordExtremes } from '../event/kind/event-extremes.ts';
import type { EventSubject, ForecastValue, SeenValue } from '../event/open/event-row.ts';
import { NO_RULES } from '../event/open/event-rules.ts';
import { scoreTerms } from '../grade/grade-terms.ts';
import { type JudgedMember, judgeGroup } from '../memory/group-season.ts';
import { keptValue } from '../memory/kept-value.ts';
import { forecastGridOf, SCALARS, SeriesMemory, seriesLayout } from '../memory/series-memory.ts';
import { SeriesRings } from '../memory/series-rings.ts';
import { arrivalForecastAt, countingCutoffs, forecastAt, type History, originAt } from './history.ts';
import type { TurnRows } from './turn-rows.ts';

/** Verdicts and events of a history. */
interface GradedHistory {
  /** One for each of the last `detectionSize` positions. */
  readonly verdicts: readonly Verdict[];
  /**
   * Revisions of its events, where they are wanted. Series are named by their index; times are positions times the
   * step; there are no bounds.
   */
  readonly events: readonly AnomalyEvent[];
}

/**
 * Grade, severity and alarm of each history, from the same recurrence that the stream runs over every position: with
 * the forecasts that it would have had. A group has its events in common. Alarms are on. Yields after each turn.
 */
export function* gradeHistories(
  histories: readonly History[],
  settings: DetectionSettings,
  { eventStepMs = null, startsMs = null, first = 0, turn }: HistoryPlaces & { readonly turn: TurnRows },
): Generator<void, GradedHistory[]> {
  if (settings.thresholdMethod === 'multivariate') {
    const startMs = startsMs?.[0] ?? Number.NaN;
    const graded = yield* gradeTogether(histories, { settings, turn, eventStepMs, startMs });
    return histories.map(() => graded);
  }
  const graded: GradedHistory[] = [];
  for (const [index, history] of histories.entries()) {
    const startMs = startsMs?.[index] ?? Number.NaN;
    graded.push(yield* gradeAlone(history, first + index, { settings, turn, eventStepMs, startMs }));
  }
  return graded;
}

/** Places of histories in time and among the series. */
export interface HistoryPlaces {
  /** Mean step of the series; null if no events are wanted. */
  readonly eventStepMs?: number | null | undefined;
  /** Event time of the first position of each; null if they are not known: then there is no seasonal profile. */
  readonly startsMs?: readonly number[] | null | undefined;
  /** Index of the first of them, 0 by default. */
  readonly first?: number;
}

interface Grading {
  readonly settings: DetectionSettings;
  readonly turn: TurnRows;
  readonly eventStepMs: number | null;
  readonly startMs: number;
}

function* gradeAlone(
  history: History,
  index: number,
  { settings, turn, eventStepMs, startMs }: Grading,
): Generator<void, GradedHistory> {
  const rows = new HistoryRows(history, index, { settings, memory: new SeriesMemory(seriesLayout(settings)) });
  const events = new HistoryEvents(settings, {
    series: String(index),
    group: null,
    stepMs: eventStepMs,
    originMs: Number.isNaN(startMs) ? null : startMs,
  });
  const state = new Float64Array(ALARM_STATE.count);
  const target = { rate: settings.alarmRate ?? 0, gap: settings.detectionSize, isGroup: false };
  const verdicts: Verdict[] = [];
  const windowStart = history.values.length - settings.detectionSize;
  for (let position = 0; position < history.values.length; position++) {
    if (turn.isOver(1)) yield;
    const unusual = rows.score(position);
    const timestampMs = startMs + position * (settings.profile?.stepMs ?? Number.NaN);
    const row = { position, value: history.observed[position], timestampMs };
    const verdict = judgeAlone(rows.rings, judgeRow(state, 0, unusual, target), row, unusual?.moved);
    rows.closeWindow(position + 1);
    events.track(position, verdict, [rows]);
    if (position >= windowStart) verdicts.push(verdict);
  }
  return { verdicts, events: events.revisions };
}

/** Histories of a group begin at one time. */
function* gradeTogether(
  histories: readonly History[],
  { settings, turn, eventStepMs, startMs }: Grading,
): Generator<void, GradedHistory> {
  const memory = new SeriesMemory(seriesLayout(settings));
  const members = histories.map((history, index) => new HistoryRows(history, index, { settings, memory }));
  const events = new HistoryEvents(settings, {
    series: null,
    group: '',
    stepMs: eventStepMs,
    originMs: Number.isNaN(startMs) ? null : startMs,
  });
  const states = { scales: new Float64Array(GROUP_SCALES.count), alarm: new Float64Array(ALARM_STATE.count) };
  const judged = { ...settings, alarmRate: settings.alarmRate ?? 0 };
  const verdicts: Verdict[] = [];
  const length = histories[0]?.values.length ?? 0;
  for (let position = 0; position < length; position++) {
    if (turn.isOver(members.length)) yield;
    const timestampMs = startMs + position * (settings.profile?.stepMs ?? Number.NaN);
    const rows = members.map((member) => member.row(position));
    const { verdict, seasons } = judgeGroup(states, rows, { timestampMs, settings: judged });
    members.forEach((member, i) => {
      member.season = seasons[i] ?? null;
      member.closeWindow(position + 1);
    });
    events.track(position, verdict, members);
    if (position >= length - settings.detectionSize) verdicts.push(verdict);
  }
  return { verdicts, events: events.revisions };
}

const NO_BOUNDS = { lo: Number.NaN, hi: Number.NaN };

/** The rows of one history, offered one after the other. */
class HistoryRows {
  readonly series: string;
  readonly rings: SeriesRings;
  readonly #history: History;
  readonly #resolutionAt: number;
  readonly #counting: ReadonlySet<number>;
  readonly #newOrigins: ReadonlySet<number>;
  #newest: Unusualness | null = null;
  #position = -1;
  /** The season of a member in an alarm of its group. */
  season?: SeasonAlarm | null;

  constructor(
    history: History,
    index: number,
    { settings, memory }: { readonly settings: DetectionSettings; readonly memory: SeriesMemory },
  ) {
    this.series = String(index);
    this.#history = history;
    this.rings = new SeriesRings(memory);
    this.rings.grid = forecastGridOf(memory.layout, history.values.length % settings.detectionSize);
    this.#resolutionAt = this.rings.scalarIndex(SCALARS.resolution);
    this.#counting = new Set(countingCutoffs(history, settings));
    this.#newOrigins = new Set(history.segments.map(({ start }) => start));
  }

  score(position: number): Unusualness | null {
    const { rings } = this;
    const { values, observed, modelDeviations } = this.#history;
    if (this.#counting.has(position)) {
      rings.setScalar(SCALARS.modelDeviation, modelDeviations.get(position) ?? 0);
    }
    const distance = values[position];
    rings.origin = originAt(this.#history, position);
    rings.keepDistance(position, distance);
    const value = observed[position];
    const forecast = arrivalForecastAt(this.#history, position);
    this.#newest = scoreTerms(rings, { position, value, distance, forecast });
    this.#position = position;
    recordResolution(rings.doubles, this.#resolutionAt, value);
    return this.#newest;
  }

  /** As a member of a group. */
  row(position: number): JudgedMember {
    const unusual = this.score(position);
    return { rings: this.rings, value: this.#history.observed[position], unusual };
  }

  /** Distances from here on are from `origin`; NaN if a new one begins. */
  get origin(): number {
    return this.rings.origin;
  }

  /** The newest row; null if it has no value. */
  seen(): SeenValue | null {
    const position = this.#position;
    const value = this.#history.observed[position];
    if (Number.isNaN(value)) return null;
    const expected = originAt(this.#history, position) + arrivalForecastAt(this.#history, position);
    const { series, rings, origin, season } = this;
    const earlier = (before: number) => this.#earlier(before);
    return { series, value, expected, ...NO_BOUNDS, sharp: this.#newest?.sharp ?? 0, rings, origin, season, earlier };
  }

  /** As earlier-value.ts has it: forecasts of a window that has closed are known from their residuals. */
  #earlier(position: number): ForecastValue | null {
    const { values, detectionSize } = this.#history;
    const { contextStart, layout } = this.rings;
    const windowStart = values.length - detectionSize * Math.ceil((values.length - this.#position - 1) / detectionSize);
    const oldest = Math.max(contextStart, windowStart - Math.min(detectionSize, layout.residualCapacity));
    if (position < oldest) return null;
    const distance = values[position];
    const forecast =
      position < windowStart
        ? distance - roundToBfloat16(Math.fround(distance - forecastAt(this.#history, position)))
        : arrivalForecastAt(this.#history, position);
    if (Number.isNaN(distance) || Number.isNaN(forecast)) return null;
    const origin = originAt(this.#history, position);
    return { value: keptValue(origin, distance), expected: origin + forecast, ...NO_BOUNDS };
  }

  /** Closes the window that ends here, once its last row is judged. Windows are aligned to the end of the series. */
  closeWindow(end: number): void {
    const { values, detectionSize } = this.#history;
    const { rings } = this;
    if ((values.length - end) % detectionSize === 0 && end >= detectionSize) {
      const kept = { rings, origin: originAt(this.#history, end - 1) };
      recordExtremes(kept, end - detectionSize, end);
    }
    if (end >= values.length || !this.#newOrigins.has(end)) return;
    rings.origin = Number.NaN;
    rings.setScalar(SCALARS.contextStart, end);
    rings.forgetDistances();
  }
}

/** The events of a history, or of a group of them. */
class HistoryEvents {
  readonly #tracker: EventTracker | null;
  readonly #stepMs: number;
  readonly revisions: AnomalyEvent[] = [];

  constructor(
    { detectionSize }: DetectionSettings,
    of: Pick<EventSubject, 'series' | 'group' | 'originMs'> & { readonly stepMs: number | null },
  ) {
    const { stepMs } = of;
    this.#stepMs = stepMs ?? 0;
    const common = { detector: '', labels: {}, rules: NO_RULES, gap: detectionSize, idOf: String };
    this.#tracker = stepMs === null ? null : new EventTracker({ ...of, ...common, stepMs });
  }

  track(position: number, verdict: Verdict, members: readonly HistoryRows[]): void {
    if (this.#tracker === null || !this.#tracker.wants(verdict.alarm, Number.NaN)) return;
    const revisions = this.#tracker.track({
      position,
      timestampMs: position * this.#stepMs,
      offset: position,
      verdict,
      seen: members.flatMap((rows) => rows.seen() ?? []),
      keptOf: (series) => members.find((member) => member.series === series) ?? null,
    });
    this.revisions.push(...revisions);
  }
}
