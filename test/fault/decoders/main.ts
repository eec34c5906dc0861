/**
 * `npm run fuzz -- [--minutes N] [--seed N] [--decoder NAME]`: random and changed bytes for every decoder, each on a
 * thread of its own. What throws, takes longer than 10 s or needs more than 512 MiB is a case, and becomes a part of
 * the corpus. Prints, as the very last line, one JSON object.
 */
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { keepCase } from './corpus.ts';
import type { FuzzThreadData } from './fuzz-thread.ts';
import { fuzzTargets } from './targets.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    decoder: { type: 'string' },
  },
});
const HANG_MS = 10_000;
const HEAP_MB = 512;
const INPUT_BYTES_MAX = 512 * 1024;
/** Threads at once. */
const AT_ONCE = 2;

const names = (await fuzzTargets()).map(({ name }) => name).filter((name) => name === (values.decoder ?? name));
if (names.length === 0) throw new Error(`--decoder is ${values.decoder}, which there is not`);
const ms = (Number(values.minutes) * 60_000 * Math.min(AT_ONCE, names.length)) / names.length;
console.log(`seed ${values.seed}: ${Math.round(ms / 1_000)} s for each of ${names.length} decoders`);

interface Fuzzed {
  readonly inputs: number;
  readonly outcomes: number;
  /** null where nothing was found. */
  readonly found: string | null;
}

async function fuzzed(name: string): Promise<Fuzzed> {
  const state = new Int32Array(new SharedArrayBuffer(5 * 4));
  const bytes = new Uint8Array(new SharedArrayBuffer(INPUT_BYTES_MAX));
  const workerData: FuzzThreadData = { name, seed: Number(values.seed), ms, state, bytes };
  const thread = new Worker(new URL('./fuzz-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  thread.once('error', (error) => resolve(error.stack ?? String(error)));
  thread.once('exit', () => resolve(Atomics.load(state, 2) === 1 ? null : 'the thread ended'));
  let newest = 0;
  const watch = setInterval(() => {
    const input = Atomics.load(state, 0);
    if (input > 0 && input === newest && Atomics.load(state, 2) === 0) resolve(`it takes longer than ${HANG_MS} ms`);
    newest = input;
  }, HANG_MS);
  const why = await promise;
  clearInterval(watch);
  await thread.terminate();
  if (why === null) return { inputs: state[3], outcomes: state[4], found: null };
  const path = await keepCase(name, Uint8Array.from(bytes.subarray(0, state[1])));
  return { inputs: state[0], outcomes: 0, found: `${name}: ${path}: ${why}` };
}

const waiting = [...names];
const results: (Fuzzed & { readonly name: string })[] = [];
async function next(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const result = { name, ...(await fuzzed(name)) };
    results.push(result);
    console.log(
      `${name}: ${result.inputs} inputs, ${result.outcomes} outcomes${result.found === null ? '' : ', A CASE'}`,
    );
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, next));
for (const { found } of results) if (found !== null) console.log(found);
const cases = results.filter(({ found }) => found !== null).length;
console.log(
  JSON.stringify({ decoders: names.length, inputs: results.reduce((sum, { inputs }) => sum + inputs, 0), cases }),
);
process.exitCode = cases === 0 ? 0 : 1;
