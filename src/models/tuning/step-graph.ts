import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { depthMask, TUNING_LOSSES, type TuningGraphs, type TuningLoss } from '../tuning-graphs.ts';
import type { TuningBatch } from './batch.ts';
import type { StepGraph, TuningState } from './train-steps.ts';

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
