/**
 * `npm run bench -- NAME [ARGUMENTS]`: prints tables and, as the very last line, one JSON object. With `--record` the
 * figures are kept in figures.json, which documents quote.
 */
import { availableParallelism } from 'node:os';
import type { Bench } from './bench.ts';
import { loadOfLastMinute, recordFigures, thisMachine } from './figures.ts';

const BENCHES: Readonly<Record<string, () => Promise<{ readonly run: Bench }>>> = {
  console: () => import('./console/run.ts'),
  detection: () => import('./detection/run.ts'),
  events: () => import('./events/run.ts'),
  exogenous: () => import('./exogenous.ts'),
  fairness: () => import('./fairness.ts'),
  faults: () => import('./faults/run.ts'),
  'first-hour': () => import('./first-hour.ts'),
  finetune: () => import('./finetune.ts'),
  footprint: () => import('./footprint.ts'),
  forecast: () => import('./forecast.ts'),
  growth: () => import('./growth.ts'),
  history: () => import('./history.ts'),
  hostile: () => import('./hostile/run.ts'),
  http: () => import('./http.ts'),
  ingest: () => import('./ingest.ts'),
  'in-sample': () => import('./in-sample.ts'),
  incidents: () => import('./incidents/run.ts'),
  jobs: () => import('./jobs.ts'),
  journal: () => import('./journal.ts'),
  memory: () => import('./memory.ts'),
  'new-user': () => import('./new-user.ts'),
  partitions: () => import('./partitions.ts'),
  quality: () => import('./quality.ts'),
  recovery: () => import('./recovery.ts'),
  restore: () => import('./restore.ts'),
  seasons: () => import('./seasons.ts'),
  start: () => import('./start.ts'),
  stream: () => import('./stream.ts'),
  suggest: () => import('./suggest.ts'),
  weeks: () => import('./weeks/run.ts'),
};

const [name, ...given] = process.argv.slice(2);
const args = given.filter((argument) => argument !== '--record');
if (name === undefined || !Object.hasOwn(BENCHES, name)) {
  const problem = name === undefined ? 'a bench must be named' : `no bench ${JSON.stringify(name)}`;
  console.error(`${problem}; there are: ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 2;
} else {
  const { run } = await BENCHES[name]();
  const [date, load, cores] = [new Date(), loadOfLastMinute(), availableParallelism()];
  const figures = await run(args);
  if (args.length < given.length) recordFigures(name, { args, figures, date, load, machine: thisMachine() });
  console.log(JSON.stringify({ bench: name, cores, node: process.version, ...figures }));
}
