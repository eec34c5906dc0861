import type { DetectorConfig } from '../../config/config.ts';
import type { Tally } from '../../engine/commit/tally.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { isSilence, type ScoreRecord } from '../../records/score-record.ts';
import { listedNames } from '../../records/series/listed-names.ts';
import { eventLine } from '../terminal/event-text.ts';
import { formatScore, formatTime, printable, SCORE_LINE_STYLE } from '../terminal/score-line.ts';

const SERIES_SHOWN_MAX = 20;
const EVENTS_SHOWN_MAX = 20;
const WORST_SHOWN = 3;

interface SeriesReport {
  observations: number;
  scored: number;
  /** Observations outside of their interval. */
  anomalies: number;
  /** Anomalies with the largest scores, largest first. */
  worst: { readonly timestampMs: number; readonly score: number }[];
}

/** The summary of a backtest: its events next to the false alarms that its detectors accept, and counts by series. */
export class BacktestReport {
  readonly #series = new Map<string, SeriesReport>();
  readonly #rates: ReadonlyMap<string, number>;
  /** The newest graded row of each series or group. */
  readonly #newest = new Map<string, number>();
  #expected = 0;
  /** Every revision, in the order they are made. */
  readonly revisions: AnomalyEvent[] = [];

  constructor(detectors: readonly Pick<DetectorConfig, 'name' | 'settings'>[]) {
    this.#rates = new Map(detectors.map(({ name, settings }) => [name, settings.alarmRate ?? 0]));
  }

  addScores(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score)) continue;
      const { series, state, anomaly, timestampMs, anomalyScore, accumulatedAnomalyScore } = score;
      this.#expectAlarm(score);
      let report = this.#series.get(series);
      if (report === undefined) {
        report = { observations: 0, scored: 0, anomalies: 0, worst: [] };
        this.#series.set(series, report);
      }
      report.observations++;
      if (state === 'scored') report.scored++;
      if (!anomaly) continue;
      report.anomalies++;
      report.worst.push({ timestampMs, score: accumulatedAnomalyScore ?? anomalyScore ?? 0 });
      report.worst.sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
      report.worst.length = Math.min(report.worst.length, WORST_SHOWN);
    }
  }

  /** The members of a group have their rows, and alarms, in common. */
  #expectAlarm({ detector, group, series, timestampMs, grade }: ScoreRecord): void {
    const scored = JSON.stringify([detector, group ?? series]);
    if (grade === null || this.#newest.get(scored) === timestampMs) return;
    this.#newest.set(scored, timestampMs);
    this.#expected += this.#rates.get(detector) ?? 0;
  }

  events(): readonly AnomalyEvent[] {
    return [...new Map(this.revisions.map((event) => [event.eventId, event])).values()];
  }

  /** The most severe events in order of time, and how many of all may be false. */
  eventLines(): readonly string[] {
    const events = this.events();
    const shown = events
      .toSorted((a, b) => (b.severity ?? 0) - (a.severity ?? 0))
      .slice(0, EVENTS_SHOWN_MAX)
      .sort((a, b) => a.startedAtMs - b.startedAtMs);
    const more = events.length - shown.length;
    const names = listedNames(shown.flatMap(({ series }) => series ?? []));
    const named = shown.map((event) => ({
      ...event,
      series: event.series === null ? null : names.of(event.series),
      updatedAtMs: event.startedAtMs,
    }));
    const seriesWidth = Math.max(SCORE_LINE_STYLE.seriesWidth, ...named.map(({ series }) => series?.length ?? 0));
    return [
      ...names.shared.map((shared) => `Shared by all names: ${printable(shared)}`),
      ...named.map((event) => eventLine(event, { ...SCORE_LINE_STYLE, seriesWidth })),
      ...(more > 0 ? [`and ${more} less severe events`] : []),
      `${events.length} events; false alarms to expect: ${this.#expected.toFixed(1)}`,
    ];
  }

  /** @param tally counts of the whole backtest */
  seriesLines(tally: Tally, seconds: number): readonly string[] {
    const events = this.events();
    const shown = [...this.#series].slice(0, SERIES_SHOWN_MAX).map(([series, report]) => {
      const own = events.filter((event) => isOf(event, series)).length;
      return seriesLine(printable(series), report, own);
    });
    const more = this.#series.size - shown.length;
    if (more > 0) shown.push(`and ${more} more series`);
    return [...shown, totals(tally, { series: this.#series.size, events: events.length, seconds })];
  }
}

/** True for an event of a series, or of a group that it belongs to. */
export function isOf({ series, members }: AnomalyEvent, id: string): boolean {
  return series === id || members.some((member) => member.series === id);
}

const eventsText = (count: number) => `${count} event${count === 1 ? '' : 's'}`;

function seriesLine(series: string, { observations, scored, anomalies, worst }: SeriesReport, events: number): string {
  const shown = worst.map(({ timestampMs, score }) => `${formatTime(timestampMs)} (${formatScore(score)})`);
  const found = `${scored} scored, ${anomalies} anomalies, ${eventsText(events)}`;
  const line = `${series}: ${observations} observations, ${found}`;
  return shown.length === 0 ? line : `${line}; worst: ${shown.join(', ')}`;
}

function totals(tally: Tally, { series, events, seconds }: Record<'series' | 'events' | 'seconds', number>): string {
  const { scored, deadLetters, restarted, flagged: anomalies, duplicates, gapsFilled, withoutValue } = tally;
  const { silent, returned, ...observed } = scored;
  const observations = Object.values(observed).reduce((sum, count) => sum + count, 0);
  const counts = {
    duplicate: duplicates,
    ...deadLetters,
    'without a value': withoutValue,
    'missing steps filled': gapsFilled,
    'times silent': silent,
    'times back': returned,
    'starts over': Object.values(restarted).reduce((sum, count) => sum + count, 0),
  };
  const asides = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `, ${count} ${name}`);
  const rate = seconds > 0 ? ` (${Math.round(observations / seconds)} a second)` : '';
  const found = `${scored.scored} scored, ${anomalies} anomalies, ${eventsText(events)}`;
  const sums = `${series} series, ${observations} observations, ${found}`;
  return `Total: ${sums}${asides.join('')}; ${seconds.toFixed(1)} s${rate}`;
}
