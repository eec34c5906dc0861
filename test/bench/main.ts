/**
 * `npm run bench -- NAME [ARGUMENTS]`: prints tables and, as the very last line, one JSON object. With `--record` the
 * figures are kept in figures.json, which documents quote.
 */
import { availableParallelism } from 'node:os';
import type { Bench } from './bench.ts';
import { loadOfLastMinute, recordFigures, thisMachine } from './figures.ts';

const BENCHES: Readonly<Record<string, () => Promise<{ readonly run: Bench }>>> = {
  comparison: () => import('./comparison/run.ts'),
  detection: () => import('./detection/run.ts'),
  http: () => import('./http/run.ts'),
  ingest: () => import('./ingest.ts'),
  incidents: () => import('./incidents/run.ts'),
  memory: () => import('./memory/run.ts'),
  million: () => import('./million/run.ts'),
  'new-user': () => import('./new-user.ts'),
  quality: () => import('./quality/run.ts'),
  restore: () => import('./restore.ts'),
  stream: () => import('./stream/run.ts'),
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
