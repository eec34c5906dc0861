import { workerData } from 'node:worker_threads';
import { corpusOf } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { fuzzTargets } from './targets.ts';

/** What the thread and its owner share: the input that is decoded now, for when the thread does not end by itself. */
export interface FuzzThreadData {
  readonly name: string;
  readonly seed: number;
  readonly ms: number;
  /** Number of the input, its bytes, 1 once the thread has ended; then inputs and outcomes. */
  readonly state: Int32Array<SharedArrayBuffer>;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

const { name, seed, ms, state, bytes } = workerData as FuzzThreadData;
const target = (await fuzzTargets()).find((each) => each.name === name);
if (target === undefined) throw new Error(`there is no decoder ${name}`);
const endMs = performance.now() + ms;
const before = (input: Buffer) => {
  bytes.set(input.subarray(0, bytes.length));
  Atomics.store(state, 1, input.length);
  Atomics.add(state, 0, 1);
  return performance.now() < endMs;
};
const figures = fuzz({ target, corpus: [...(await corpusOf(name)).values()], seed, before });
Atomics.store(state, 3, figures.inputs);
Atomics.store(state, 4, figures.outcomes);
Atomics.store(state, 2, 1);
