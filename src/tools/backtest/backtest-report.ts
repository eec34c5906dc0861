import { writeFile } from 'node:fs/promises';
import type { ReportData } from '../../api/wire/schema/backtest-schema.ts';
import { reportPage } from '../../console/report-page.ts';
import type { Tally } from '../../engine/commit/tally.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { isSilence, type ScoreRecord } from '../../records/score-record.ts';
import { formatScore, formatTime, printable } from '../terminal/score-line.ts';

const SERIES_SHOWN_MAX = 20;
const WORST_SHOWN = 3;

interface SeriesReport {
  observations: number;
  scored: number;
  /** Observations outside of their interval. */
  anomalies: number;
  /** Alarm episodes: alarms without one in the detection size before them. */
  alarms: number;
  lastAlarmAt: number;
  /** Anomalies with the largest scores, largest first. */
  worst: { readonly timestampMs: number; readonly score: number }[];
}

/** The summary of a backtest. */
export class BacktestReport {
  readonly #series = new Map<string, SeriesReport>();

  add(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score)) continue;
      const { series, state, anomaly, timestampMs, anomalyScore, accumulatedAnomalyScore } = score;
      let report = this.#series.get(series);
      if (report === undefined) {
        report = {
          observations: 0,
          scored: 0,
          anomalies: 0,
          alarms: 0,
          lastAlarmAt: Number.NEGATIVE_INFINITY,
          worst: [],
        };
        this.#series.set(series, report);
      }
      report.observations++;
      if (state === 'scored') report.scored++;
      if (score.alarm) countAlarm(report, score);
      if (!anomaly) continue;
      report.anomalies++;
      report.worst.push({ timestampMs, score: accumulatedAnomalyScore ?? anomalyScore ?? 0 });
      report.worst.sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
      report.worst.length = Math.min(report.worst.length, WORST_SHOWN);
    }
  }

  /** @param tally counts of the whole backtest */
  lines(tally: Tally, seconds: number): readonly string[] {
    const shown = [...this.#series].slice(0, SERIES_SHOWN_MAX).map(([series, report]) => seriesLine(series, report));
    const more = this.#series.size - shown.length;
    if (more > 0) shown.push(`and ${more} more series`);
    return [...shown, totals(this.#series, tally, seconds)];
  }
}

function countAlarm(report: SeriesReport, { position, window }: ScoreRecord): void {
  if (position - report.lastAlarmAt > window.end - window.start) report.alarms++;
  report.lastAlarmAt = position;
}

function seriesLine(series: string, { observations, scored, anomalies, alarms, worst }: SeriesReport): string {
  const shown = worst.map(({ timestampMs, score }) => `${formatTime(timestampMs)} (${formatScore(score)})`);
  const found = `${scored} scored, ${anomalies} anomalies, ${alarms} alarm episodes`;
  const line = `${printable(series)}: ${observations} observations, ${found}`;
  return shown.length === 0 ? line : `${line}; worst: ${shown.join(', ')}`;
}

function totals(series: ReadonlyMap<string, SeriesReport>, tally: Tally, seconds: number): string {
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
  const alarms = [...series.values()].reduce((sum, report) => sum + report.alarms, 0);
  const found = `${scored.scored} scored, ${anomalies} anomalies, ${alarms} alarm episodes`;
  const sums = `${series.size} series, ${observations} observations, ${found}`;
  return `Total: ${sums}${asides.join('')}; ${seconds.toFixed(1)} s${rate}`;
}

/** Writes the page of a backtest. Throws a ServiceError `configuration` when the file cannot be written. */
export async function writeReportFile(path: string, data: ReportData): Promise<void> {
  await writeFile(path, reportPage(data)).catch((error: Error) => {
    throw new ServiceError('configuration', `Cannot write ${path}: ${error.message}`, { cause: error });
  });
}
