import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { isOf } from './backtest-report.ts';

/** Texts of a label column that mark no incident. */
const NOT_LABELLED: ReadonlySet<string> = new Set(['', 'false', 'no', 'n', 'normal', 'none', 'null', 'nan']);
const PICTURE_WIDTH = 64;
const SERIES_SHOWN_MAX = 20;

export function isLabelled(text: string): boolean {
  const word = text.trim().toLowerCase();
  return !NOT_LABELLED.has(word) && Number(word) !== 0;
}

interface LabelledSpan {
  readonly startMs: number;
  endMs: number;
}

interface LabelledRows {
  readonly firstMs: number;
  lastMs: number;
  wasLabelled: boolean;
  readonly incidents: LabelledSpan[];
}

/** Compares the events of a backtest with the incidents that the rows of its file are labelled with. */
export class BacktestLabels {
  readonly #series = new Map<string, LabelledRows>();
  readonly #lateMs: number;

  /** @param lateMs after the end of an incident, within which an event is late, not false */
  constructor(lateMs: number) {
    this.#lateMs = lateMs;
  }

  /** Rows of a series in order of time; labelled rows without another one between them are one incident. */
  add(id: string, timestampMs: number, isLabelled: boolean): void {
    let series = this.#series.get(id);
    if (series === undefined) {
      series = { firstMs: timestampMs, lastMs: timestampMs, wasLabelled: false, incidents: [] };
      this.#series.set(id, series);
    }
    if (isLabelled && series.wasLabelled) series.incidents.at(-1)!.endMs = timestampMs;
    else if (isLabelled) series.incidents.push({ startMs: timestampMs, endMs: timestampMs });
    series.wasLabelled = isLabelled;
    series.lastMs = timestampMs;
  }

  /** Counts in events, and a picture of each series with an incident or an event. */
  lines(events: readonly AnomalyEvent[]): readonly string[] {
    const counts = { found: 0, late: 0, missed: 0 };
    const explained = new Set<string>();
    const pictures: string[] = [];
    for (const [id, series] of this.#series) {
      const own = events.filter((event) => isOf(event, id));
      for (const incident of series.incidents) counts[this.#outcome(incident, own, explained)]++;
      if (pictures.length < 2 * SERIES_SHOWN_MAX && series.incidents.length + own.length > 0) {
        pictures.push(...picture(id, series, own));
      }
    }
    const { found, late, missed } = counts;
    const labelled = `${found + late + missed} labelled incidents: ${found} found, ${late} late, ${missed} missed`;
    return [...pictures, `${labelled}; ${events.length - explained.size} of ${events.length} events are false`];
  }

  /** Adds the events that the incident explains to `explained`. */
  #outcome(
    { startMs, endMs }: LabelledSpan,
    own: readonly AnomalyEvent[],
    explained: Set<string>,
  ): 'found' | 'late' | 'missed' {
    const during = own.filter((event) => event.firstAlarmAtMs <= endMs && event.lastAlarmAtMs >= startMs);
    const after = own.filter(({ firstAlarmAtMs: ms }) => ms > endMs && ms <= endMs + this.#lateMs);
    for (const { eventId } of [...during, ...after]) explained.add(eventId);
    return during.length > 0 ? 'found' : after.length > 0 ? 'late' : 'missed';
  }
}

/** Two lines over the time of a series: its labels, and below them its events. */
function picture(id: string, { firstMs, lastMs, incidents }: LabelledRows, events: readonly AnomalyEvent[]) {
  const columnOf = (ms: number) => Math.floor((PICTURE_WIDTH * (ms - firstMs)) / Math.max(1, lastMs - firstMs + 1));
  const drawn = (spans: readonly LabelledSpan[]) => {
    const columns = Array(PICTURE_WIDTH).fill('.');
    for (const { startMs, endMs } of spans) columns.fill('#', columnOf(startMs), columnOf(endMs) + 1);
    return columns.join('');
  };
  const spans = events.map((event) => ({ startMs: event.firstAlarmAtMs, endMs: event.lastAlarmAtMs }));
  return [`  labels  ${drawn(incidents)}  ${id}`, `  events  ${drawn(spans)}`];
}
