/** `npm run bench -- NAME [ARGUMENTS]`: prints tables and, as the very last line, one JSON object. */
import { availableParallelism } from 'node:os';
import type { Bench } from './bench.ts';

const BENCHES: Readonly<Record<string, () => Promise<{ readonly run: Bench }>>> = {
  detection: () => import('./detection/run.ts'),
  events: () => import('./events/run.ts'),
  exogenous: () => import('./exogenous.ts'),
  fairness: () => import('./fairness.ts'),
  faults: () => import('./faults/run.ts'),
  finetune: () => import('./finetune.ts'),
  forecast: () => import('./forecast.ts'),
  history: () => import('./history.ts'),
  hostile: () => import('./hostile/run.ts'),
  http: () => import('./http.ts'),
  'in-sample': () => import('./in-sample.ts'),
  jobs: () => import('./jobs.ts'),
  journal: () => import('./journal.ts'),
  memory: () => import('./memory.ts'),
  'new-user': () => import('./new-user.ts'),
  partitions: () => import('./partitions.ts'),
  quality: () => import('./quality.ts'),
  recovery: () => import('./recovery.ts'),
  restore: () => import('./restore.ts'),
  seasons: () => import('./seasons.ts'),
  stream: () => import('./stream.ts'),
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(BENCHES, name)) {
  const problem = name === undefined ? 'a bench must be named' : `no bench ${JSON.stringify(name)}`;
  console.error(`${problem}; there are: ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 2;
} else {
  const { run } = await BENCHES[name]();
  const figures = await run(args);
  console.log(JSON.stringify({ bench: name, cores: availableParallelism(), node: process.version, ...figures }));
}
