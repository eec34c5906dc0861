import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import type { Model } from '../catalog.ts';
import { openSession } from '../open-session.ts';
import { stepGraph } from './step-graph.ts';
import { type Tuned, type TuningRun, tune } from './tune.ts';
import type { TuningInput } from './tuning-bytes.ts';
import type { TuningGraphs } from './tuning-graphs.ts';

/** A model that can be tuned. */
export interface ProgramModel {
  readonly name: string;
  readonly stepPath: string;
  readonly graphs: TuningGraphs;
}

/** Those of these models that can be tuned. */
export function programModels(models: readonly Model[]): ProgramModel[] {
  return models.flatMap(({ name, graphPath, manifest: { tuning } }) => {
    return tuning === null ? [] : [{ name, stepPath: join(dirname(graphPath), tuning.step.graph), graphs: tuning }];
  });
}

/** Of Adam, by depth: the more of the model moves, the less each weight may. */
const RATES = [1.3e-2, 3e-3, 1e-3, 2e-4, 2e-4];
const SEED = 0x7157a7e5;

/** Tunes in the thread that calls it, on sessions that are opened when they are first needed. */
export function tuningWork(
  models: readonly ProgramModel[],
): (input: TuningInput, run: Pick<TuningRun, 'signal' | 'progress'>) => Promise<Tuned> {
  const sessions = new Map<string, Promise<InferenceSession>>();
  return async ({ model: name, base, loss, depth, ...task }, { signal, progress }) => {
    const model = models.find((each) => each.name === name);
    assert(model !== undefined, `no model ${name} to tune`);
    const opening = sessions.get(name) ?? openSession(model.stepPath);
    sessions.set(name, opening);
    const graph = stepGraph(await opening, model.graphs, { loss, depth });
    return tune({ ...task, rate: RATES[depth - 1] }, base, graph, { chance: chanceOf(SEED), signal, progress });
  };
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
