/**
 * Statistical models of statsforecast, in a Python environment of their own. Their forecasts are cached, since they
 * take minutes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { printedBy, pythonWith } from '../../fixture/http/python.ts';
import { LEVELS, type TaskForecasts } from './forecasts.ts';
import type { QualityTask } from './tasks.ts';

export const STATSFORECAST = 'statsforecast==2.1.1';
export type PeerModel = 'AutoETS' | 'AutoTheta';
/** The longest context of a peer. Fitting takes long. */
export const HISTORY_MAX = { m4_hourly: 500, m4_weekly: 500, nab: 256 } as const;
/** Longest season of these models. */
const SEASON_MAX = 24;

const SCRIPT = join(import.meta.dirname, 'peers.py');

/** Forecasts of a statistical model; at `failed` points, where it fails, the last value. */
export interface PeerForecasts extends TaskForecasts {
  readonly failed: number;
}

/** Forecasts of a statistical model; cached for equal data, package and program. */
export async function peerForecasts(task: QualityTask, model: PeerModel): Promise<PeerForecasts> {
  const season = task.series.every((series) => series.season === task.series[0].season) ? task.series[0].season : 1;
  const request = JSON.stringify({
    model,
    season: season <= SEASON_MAX ? season : 1,
    h: task.h,
    levels: LEVELS,
    history_max: HISTORY_MAX[task.name],
    series: task.series.map(({ values }) => [...values]),
    points: task.points.map(({ series, cutoff }) => [series, cutoff]),
  });
  const digest = createHash('sha256')
    .update(STATSFORECAST)
    .update(await readFile(SCRIPT))
    .update(request)
    .digest('hex');
  const folder = join(cacheFolder(), 'quality');
  const cached = join(folder, `${task.name}-${model}-${digest.slice(0, 16)}.json`);
  if (!existsSync(cached)) {
    console.log(`${model} forecasts ${task.name} (${task.points.length} forecasts, cached for the next run)`);
    await mkdir(folder, { recursive: true });
    await writeFile(`${cached}.task`, request);
    const python = await pythonWith([STATSFORECAST]);
    await printedBy(python, SCRIPT, [`${cached}.task`, `${cached}.new`, `${availableParallelism()}`]);
    await rename(`${cached}.new`, cached);
    await rm(`${cached}.task`);
  }
  return JSON.parse(await readFile(cached, 'utf8')) as PeerForecasts;
}
