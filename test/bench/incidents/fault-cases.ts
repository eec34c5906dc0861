/** Labelled cases, scored as `backtest --incidents` does, and the rankings of simple published scorers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type PastObservation, scoreHistory } from '../../../src/engine/commit/score-history.ts';
import { BacktestIncidents } from '../../../src/tools/backtest/backtest-incidents.ts';
import { boundTo, defaultDetector, withModel } from '../detection/product.ts';
import { type CaseResult, type FaultCase, serviceOf } from './incident-card.ts';

/** The cases of a folder with manifest.json; null where it is not there. */
export function readCases(folder: string): readonly FaultCase[] | null {
  const manifest = join(folder, 'manifest.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : null;
}

export function readHistory(folder: string, { file }: FaultCase): readonly PastObservation[] {
  const lines = gunzipSync(readFileSync(join(folder, file)))
    .toString()
    .trimEnd()
    .split('\n')
    .slice(1);
  return lines.map((line) => {
    const [series, timestampMs, value] = line.split(',');
    return { series, timestampMs: Number(timestampMs), value: Number(value) };
  });
}

/** Incidents with the defaults of `backtest`, the last line of each. */
export function ownResults(histories: readonly (readonly PastObservation[])[]): Promise<readonly CaseResult[]> {
  return withModel(async (forecasters, model) => {
    const results: CaseResult[] = [];
    for (const history of histories) {
      const { series } = history[0];
      const times = history.filter((row) => row.series === series).map(({ timestampMs }) => timestampMs);
      const detector = defaultDetector({
        name: series,
        times: Float64Array.from(times),
        channels: [new Float64Array()],
        stepMs: 0,
      });
      const loaded = boundTo(detector, forecasters, model);
      const incidents = new BacktestIncidents([loaded.config]);
      const onEvent = (event: Parameters<typeof incidents.addEvent>[0]) => incidents.addEvent(event);
      const plan = { source: 'case', detectors: [loaded], group: null, onScores: () => {}, onEvent };
      await scoreHistory(history, plan, new AbortController().signal);
      results.push({ incidents: [...new Map(incidents.lines().map((line) => [line.id, line])).values()] });
    }
    return results;
  });
}

/** Mean and deviation of the quiet time: a ranking by the distance from it, for which the true onset is given. */
function deviationScale(before: readonly number[]) {
  const centre = before.reduce((sum, value) => sum + value, 0) / before.length;
  const scale = Math.sqrt(before.reduce((sum, value) => sum + (value - centre) ** 2, 0) / before.length);
  return { centre, scale };
}

export function simpleResult({ step_ms, onset_row }: FaultCase, history: readonly PastObservation[]): CaseResult {
  const onsetMs = Date.UTC(2026, 0, 1) + onset_row * step_ms;
  const distances: [string, number][] = [];
  for (const [series, rows] of Map.groupBy(history, (row) => row.series)) {
    const before = rows.filter(({ timestampMs }) => timestampMs < onsetMs).map(({ value }) => value);
    const after = rows.filter(({ timestampMs }) => timestampMs >= onsetMs).map(({ value }) => value);
    if (before.length === 0 || after.length === 0) continue;
    const { centre, scale } = deviationScale(before);
    distances.push([series, Math.max(...after.map((value) => Math.abs(value - centre))) / (scale || 1)]);
  }
  distances.sort(([, a], [, b]) => b - a);
  const first = [...Map.groupBy(distances, ([series]) => serviceOf(series)).values()].map(([[series]]) => series);
  const origins = first.map((series) => ({ series, common: null, score: 0, evidence: [] }));
  return { incidents: [{ startedAt: new Date(onsetMs).toISOString(), origins }] };
}
