import { NO_REVIEW } from '../../api/operations/shown-records.ts';
import type { ReportData, ReportSeries } from '../../api/wire/schema/operations/backtest-schema.ts';
import type { DetectorConfig } from '../../config/config.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { isSilence, type ScoreRecord } from '../../records/score-record.ts';

/** Scores in one report. It is one file that a browser holds in memory. */
const SCORES_MAX = 500_000;
/** Enough for a chart; the rest would only be noise of the conversion. */
const SIGNIFICANT = 6;

export class BacktestPages {
  readonly #series = new Map<string, ReportSeries>();
  readonly #events = new Map<string, AnomalyEvent>();
  readonly #units: Readonly<Record<string, string>>;
  #scores = 0;

  constructor(detectors: readonly Pick<DetectorConfig, 'name' | 'unit'>[]) {
    this.#units = Object.fromEntries(detectors.flatMap(({ name, unit }) => (unit ? [[name, unit]] : [])));
  }

  /** Throws a ServiceError `configuration` when there are too many. */
  add(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score)) continue;
      if (++this.#scores > SCORES_MAX) {
        const text = `A report shows at most ${SCORES_MAX} observations: split the file, or leave out --report`;
        throw new ServiceError('configuration', text);
      }
      const series = this.#seriesOf(score);
      series.state = score.state;
      series.scores.timestampMs.push(score.timestampMs);
      for (const name of ['value', 'forecast', 'lo', 'hi', 'grade'] as const) {
        series.scores[name].push(rounded(score[name]));
      }
      series.scores.alarms.push(Number(score.alarm));
    }
  }

  /** Later revisions replace earlier ones. */
  addEvent(event: AnomalyEvent): void {
    this.#events.set(event.eventId, event);
  }

  data(title: string): ReportData {
    const events = [...this.#events.values()].map((event) => ({ ...event, ...NO_REVIEW }));
    return { title, series: [...this.#series.values()], events, units: this.#units };
  }

  #seriesOf({ series: id, detector, group, state }: ScoreRecord): ReportSeries {
    let series = this.#series.get(id);
    if (series === undefined) {
      const timestampMs: number[] = [];
      const columns = { value: [], forecast: [], lo: [], hi: [], grade: [], alarms: [] };
      const scores = { timestampMs, ...columns };
      series = { series: id, detector, group, state, scores };
      this.#series.set(id, series);
    }
    return series;
  }
}

function rounded(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(SIGNIFICANT));
}
