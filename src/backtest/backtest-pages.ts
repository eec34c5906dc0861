import type { ReportData } from '../console/view/report-source.ts';
import type { SeenEvent } from '../console/view/seen.ts';
import type { AnomalyEvent } from '../record/anomaly-event.ts';
import { isSilence, type ScoreRecord } from '../record/score-record.ts';
import { ServiceError } from '../service-error.ts';

/** Scores in one report. It is one file that a browser holds in memory. */
const SCORES_MAX = 500_000;
/** Enough for a chart; the rest would only be noise of the conversion. */
const SIGNIFICANT = 6;

interface SeriesColumns {
  readonly detector: string;
  readonly group: string | null;
  state: string;
  readonly at: number[];
  readonly value: (number | null)[];
  readonly forecast: (number | null)[];
  readonly lo: (number | null)[];
  readonly hi: (number | null)[];
  readonly grade: (number | null)[];
  readonly alarm: boolean[];
}

/** Gathers a backtest for one page that shows it. */
export class BacktestPages {
  readonly #series = new Map<string, SeriesColumns>();
  readonly #events = new Map<string, AnomalyEvent>();
  #scores = 0;

  /** Throws a ServiceError `configuration` when there are too many. */
  add(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score)) continue;
      if (++this.#scores > SCORES_MAX) {
        const text = `A report shows at most ${SCORES_MAX} observations: split the file, or leave out --report`;
        throw new ServiceError('configuration', text);
      }
      const columns = this.#columnsOf(score);
      columns.state = score.state;
      columns.at.push(score.timestampMs);
      for (const name of ['value', 'forecast', 'lo', 'hi', 'grade'] as const) columns[name].push(rounded(score[name]));
      columns.alarm.push(score.alarm);
    }
  }

  /** Later revisions replace earlier ones. */
  addEvent(event: AnomalyEvent): void {
    this.#events.set(event.eventId, event);
  }

  data(title: string): ReportData {
    const series = [...this.#series].map(([id, { detector, group, state, ...scores }]) => {
      return { id, detector, group, state, scores };
    });
    return { title, series, events: [...this.#events.values()].map(seenOf) };
  }

  #columnsOf({ series, detector, group, state }: ScoreRecord): SeriesColumns {
    let columns = this.#series.get(series);
    if (columns === undefined) {
      columns = { detector, group, state, at: [], value: [], forecast: [], lo: [], hi: [], grade: [], alarm: [] };
      this.#series.set(series, columns);
    }
    return columns;
  }
}

function rounded(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(SIGNIFICANT));
}

/** Nobody has said anything about an event of a backtest. */
function seenOf(event: AnomalyEvent): SeenEvent {
  const { eventId, series, group, startedAtMs, peakAtMs, updatedAtMs, endedAtMs, ...same } = event;
  return {
    ...same,
    ...{ id: eventId, series: series ?? group ?? '', group },
    ...{ startedAt: startedAtMs, peakAt: peakAtMs, updatedAt: updatedAtMs, endedAt: endedAtMs },
    ...{ acknowledgedBy: null, mutedUntil: null, muteReason: null, real: null },
  };
}
