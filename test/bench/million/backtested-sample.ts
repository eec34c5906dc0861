import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse';
import { observationRow } from '../../../src/tools/csv/score-rows.ts';
import { programEnvironment } from '../../fixture/program-environment.ts';
import type { Figures } from '../bench.ts';
import { type FleetState, fleetValue, idOf, STEP_MS, seriesOf } from './fleet.ts';
import type { Probed } from './probe.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const DIFFERENCE_MAX = 1e-6;

interface Run {
  readonly state: FleetState;
  readonly steps: number;
  readonly detectorsFile: string;
  readonly folder: string;
}

/** Compares scores and grades with those of the command `backtest` over the whole history of each series. */
export async function differencesOfSample(sample: Probed['sample'], run: Run): Promise<Figures> {
  const [input, output] = [join(run.folder, 'sample.csv'), join(run.folder, 'sample-scores.csv')];
  const series = [...new Set(sample.map(([place]) => Number(place.split('/')[0])))];
  await pipeline(Readable.from(rowsOf(series, run)), createWriteStream(input));
  const args = [MAIN, 'backtest', input, '--detectors', run.detectorsFile, '--out', output];
  await promisify(execFile)(process.execPath, args, { env: programEnvironment({ DATA_DIR: run.folder }) });
  const known = new Map(sample.map(([place, score, grade]) => [place, { score, grade }]));
  let [compared, different] = [0, 0];
  for await (const row of createReadStream(output).pipe(parse({ columns: true }))) {
    const step = (Date.parse(row.timestamp) - run.state.startMs) / STEP_MS;
    const own = known.get(`${seriesOf(Buffer.from(row.series))}/${step}`);
    if (own === undefined) continue;
    compared++;
    if (!isSame(own.score, row.anomalyScore) || !isSame(own.grade, row.grade)) different++;
  }
  return { compared, different, not_compared: known.size - compared };
}

function* rowsOf(series: readonly number[], { state, steps }: Run): Generator<string> {
  yield 'series,timestamp,value\n';
  for (let step = 0; step < state.nextStep + steps; step++) {
    for (const each of series) {
      const timestampMs = state.startMs + step * STEP_MS;
      yield `${observationRow({ series: idOf(each), timestampMs, value: fleetValue(each, step) })}\n`;
    }
  }
}

function isSame(own: number | null, text: string): boolean {
  return text === '' ? own === null : own !== null && Math.abs(own - Number(text)) <= DIFFERENCE_MAX;
}
