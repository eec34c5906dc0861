import type { DetectorConfig } from '../../config/config.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { isSilence, type ScoreRecord } from '../../records/score-record.ts';
import { eventLine } from '../terminal/event-text.ts';
import { SCORE_LINE_STYLE } from '../terminal/score-line.ts';

const SHOWN_MAX = 20;

/** The events of a backtest, beside the false alarms that its detectors promise. */
export class BacktestEvents {
  readonly #rates: ReadonlyMap<string, number>;
  /** The newest judged row of each series or group. */
  readonly #newest = new Map<string, number>();
  #expected = 0;
  /** Every revision, in the order they are made. */
  readonly revisions: AnomalyEvent[] = [];

  constructor(detectors: readonly Pick<DetectorConfig, 'name' | 'settings'>[]) {
    this.#rates = new Map(detectors.map(({ name, settings }) => [name, settings.alarmRate ?? 0]));
  }

  /** The members of a group have their rows, and alarms, in common. */
  addScores(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score) || score.grade === null) continue;
      const { detector, group, series, timestampMs } = score;
      const unit = JSON.stringify([detector, group ?? series]);
      if (this.#newest.get(unit) === timestampMs) continue;
      this.#newest.set(unit, timestampMs);
      this.#expected += this.#rates.get(detector) ?? 0;
    }
  }

  /** The most severe events in order of time, and how many of all may be false. */
  lines(): readonly string[] {
    const newest = new Map(this.revisions.map((event) => [event.eventId, event]));
    const events = [...newest.values()];
    const shown = events
      .toSorted((a, b) => (b.severity ?? 0) - (a.severity ?? 0))
      .slice(0, SHOWN_MAX)
      .sort((a, b) => a.startedAtMs - b.startedAtMs);
    const more = events.length - shown.length;
    return [
      ...shown.map((event) => eventLine({ ...event, updatedAtMs: event.startedAtMs }, SCORE_LINE_STYLE)),
      ...(more > 0 ? [`and ${more} less severe events`] : []),
      `${events.length} events; false alarms to expect: ${this.#expected.toFixed(1)}`,
    ];
  }
}
