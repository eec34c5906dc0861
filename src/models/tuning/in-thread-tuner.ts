import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import type { Model } from '../catalog.ts';
import { openSession } from '../open-session.ts';
import type { TuningGraphs } from '../tuning-graphs.ts';
import { stepGraph } from './step-graph.ts';
import { type Tuned, type TuningRun, tune } from './tune.ts';
import type { TuningInput } from './tuning-bytes.ts';

export interface TunableModel {
  readonly name: string;
  readonly stepPath: string;
  readonly graphs: TuningGraphs;
}

/** Those of the models that have tuning graphs. */
export function tunableModels(models: readonly Model[]): TunableModel[] {
  return models.flatMap(({ name, graphPath, manifest: { tuning } }) => {
    return tuning === null ? [] : [{ name, stepPath: join(dirname(graphPath), tuning.step.graph), graphs: tuning }];
  });
}

/** Learning rates of Adam by depth: the more weights are trained, the lower the rate. */
const RATES = [1.3e-2, 3e-3, 1e-3, 2e-4, 2e-4];
const SEED = 0x7157a7e5;

/** Tunes in the calling thread. Sessions are opened on first use and kept. */
export function inThreadTuner(
  models: readonly TunableModel[],
): (input: TuningInput, run: Pick<TuningRun, 'signal' | 'progress'>) => Promise<Tuned> {
  const sessions = new Map<string, Promise<InferenceSession>>();
  return async ({ model: name, base, loss, depth, ...task }, { signal, progress }) => {
    const model = models.find((each) => each.name === name);
    assert(model !== undefined, `no model ${name} to tune`);
    const opening = sessions.get(name) ?? openSession(model.stepPath);
    sessions.set(name, opening);
    // A session that could not be opened is tried again by the next tuning.
    opening.catch(() => sessions.delete(name));
    const graph = stepGraph(await opening, model.graphs, { loss, depth });
    return tune({ ...task, rate: RATES[depth - 1] }, { base, graph, random: randomNumbers(SEED), signal, progress });
  };
}

/** Pseudorandom numbers in [0, 1) (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
