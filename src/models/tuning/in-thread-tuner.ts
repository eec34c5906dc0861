import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { Model } from '../catalog.ts';
import { openSession } from '../open-session.ts';
import { depthMask, TUNING_LOSSES, type TuningGraphs, type TuningLoss } from '../tuning-graphs.ts';
import type { TuningBatch } from './batch.ts';
import type { StepGraph, TuningState } from './train-steps.ts';
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

/** The updates of one loss and depth, on a session of the step graph. */
export function stepGraph(
  session: InferenceSession,
  graphs: Pick<TuningGraphs, 'batch' | 'context' | 'horizon' | 'betas' | 'weights'>,
  { loss, depth }: { readonly loss: TuningLoss; readonly depth: number },
): StepGraph {
  const { batch: rows, context, horizon, betas } = graphs;
  const trainable = depthMask(graphs, depth);
  const frozen = new Float32Array(trainable.length);
  const oneHot = Float32Array.from(TUNING_LOSSES, (name) => (name === loss ? 1 : 0));

  async function run(
    { theta, m, v }: TuningState,
    batch: TuningBatch,
    { mask, rates }: { readonly mask: Float32Array; readonly rates: readonly number[] },
  ) {
    const flat = (data: Float32Array) => new Tensor('float32', data, [data.length]);
    const table = (data: Float32Array) => new Tensor('float32', data, [rows, data.length / rows]);
    const out = await session.run({
      theta: flat(theta),
      m: flat(m),
      v: flat(v),
      mask: flat(mask),
      values: table(batch.values),
      observed: table(batch.observed),
      target: table(batch.target),
      weight: table(batch.weight),
      series: table(batch.series),
      loss: flat(oneHot),
      rates: flat(Float32Array.from(rates)),
    });
    const data = (name: string) => out[name].data as Float32Array;
    const state = { theta: data('theta_next'), m: data('m_next'), v: data('v_next') };
    return { state, rowLosses: data('row_losses') };
  }

  return {
    shape: { batch: rows, context, horizon },
    signSymmetric: loss !== 'poisson',
    async step(state, batch, { n, rate }) {
      const rates = [rate, ...betas.map((beta) => 1 - beta ** n)];
      return (await run(state, batch, { mask: trainable, rates })).state;
    },
    async rowLosses(theta, batch) {
      return (await run({ theta, m: frozen, v: frozen }, batch, { mask: frozen, rates: [0, 1, 1] })).rowLosses;
    },
  };
}
