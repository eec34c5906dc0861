/**
 * An inference thread: one session for each model, one run at a time, because a run blocks the event loop of its
 * thread. A failed run is reported as failed. A model that cannot be loaded at the start ends the thread.
 */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { Model } from './catalog.ts';
import { scaleContexts, unscaleForecasts } from './context/context-scaling.ts';
import { portProblems, testRunProblems } from './graph-check.ts';
import type { RunForecasts, RunRequest, ThreadMessage, ThreadModel } from './inference-thread.ts';
import { openSession } from './open-session.ts';
import { processorClock } from './processor-clock.ts';

interface LoadedModel {
  readonly model: Model;
  /** Opened on first use where the model is rare, as is the next one. */
  session: InferenceSession | null;
  /** Session of the graph of medians, where the model has one. */
  median: InferenceSession | null;
  readonly medianLevel: number;
  /** Session of the graph with theta as an input, shared by all tuned weights; opened on first use. */
  tuned: InferenceSession | null;
}

/** Opens a model, and checks it in test runs where this thread is to. Throws with every problem. */
async function load({ model, opening }: ThreadModel): Promise<LoadedModel> {
  const { manifest, graphPath } = model;
  const medianLevel = manifest.quantiles.indexOf(0.5);
  if (opening === 'first-use') return { model, session: null, median: null, medianLevel, tuned: null };
  const invalid = (reasons: readonly string[]) =>
    new Error(`model folder ${dirname(graphPath)}: ${reasons.join('; ')}`);
  const session = await openSession(graphPath).catch((error: Error) => {
    throw invalid([`${manifest.graph} cannot be loaded: ${error.message}`]);
  });
  const ports = portProblems(manifest, { inputs: session.inputMetadata, outputs: session.outputMetadata });
  if (ports.length > 0) throw invalid(ports);
  const loaded: LoadedModel = { model, session, median: null, medianLevel, tuned: null };
  await openMedian(loaded).catch((error: Error) => {
    throw invalid([`${manifest.median?.graph} cannot be loaded: ${error.message}`]);
  });
  if (opening === 'start') return loaded;
  const problems = await testRunProblems(manifest, (test, quantiles) =>
    run(loaded, { model: 0, members: 0, quantiles, theta: null, ...test }),
  );
  if (problems.length > 0) throw invalid(problems);
  return loaded;
}

/** null if the model has no graph of medians. */
async function openMedian(loaded: LoadedModel): Promise<InferenceSession | null> {
  const { graphPath, manifest } = loaded.model;
  if (manifest.median === null) return null;
  loaded.median ??= await openSession(join(dirname(graphPath), manifest.median.graph));
  return loaded.median;
}

/** A session, and the levels of its output. */
interface Graph {
  readonly session: InferenceSession;
  readonly levels: number;
}

async function graphFor(loaded: LoadedModel, { quantiles, theta }: RunRequest): Promise<Graph> {
  const { graphPath, manifest } = loaded.model;
  const levels = manifest.quantiles.length;
  if (theta !== null) {
    loaded.tuned ??= await openSession(join(dirname(graphPath), manifest.tuning!.forecast.graph));
    return { session: loaded.tuned, levels };
  }
  const median = quantiles === 'median' ? await openMedian(loaded) : null;
  if (median !== null) return { session: median, levels: 1 };
  loaded.session ??= await openSession(graphPath);
  return { session: loaded.session, levels };
}

async function run(loaded: LoadedModel, request: RunRequest): Promise<Omit<RunForecasts, 'cpuMs'>> {
  const { model, medianLevel } = loaded;
  const { inputs, output } = model.manifest;
  const { rows, members, contextLength, horizon, values, theta } = request;
  const { observed, scales, infinite } = scaleContexts(values, contextLength);
  const groups = Float32Array.from({ length: rows }, (_, row) => (row < members ? 0 : row));
  const feeds = {
    ...(inputs.group && { [inputs.group]: new Tensor('float32', groups, [rows]) }),
    [inputs.values]: new Tensor('float32', values, [rows, contextLength]),
    [inputs.observed]: new Tensor('float32', observed, [rows, contextLength]),
    [inputs.future]: new Tensor('float32', new Float32Array(rows * horizon), [rows, horizon]),
    ...(theta !== null && { theta: new Tensor('float32', theta, [theta.length]) }),
  };
  const { session, levels } = await graphFor(loaded, request);
  const clockBefore = performance.now();
  const tensor = (await session.run(feeds, [output]))[output];
  const runMs = performance.now() - clockBefore;
  const shape = [rows, horizon, levels];
  if (tensor.dims.join() !== shape.join()) {
    throw new Error(`${output} has the shape [${tensor.dims.join(', ')}] instead of [${shape.join(', ')}]`);
  }
  const all = tensor.data as Float32Array;
  const whole = request.quantiles === 'all' || levels === 1;
  const forecasts = whole ? new Float32Array(all) : all.filter((_, i) => i % levels === medianLevel);
  const badRows = [
    ...infinite.map((row) => ({ row, reason: 'an observation is infinite (as float32)' })),
    ...rowsNotFinite(forecasts, rows).map((row) => ({
      row,
      reason: `model ${model.name} made a forecast that is not finite`,
    })),
  ];
  unscaleForecasts(forecasts, scales);
  return { kind: 'forecasts', forecasts, badRows, runMs };
}

function rowsNotFinite(forecasts: Float32Array, rows: number): number[] {
  const rowLength = forecasts.length / rows;
  const found = new Set<number>();
  for (let i = 0; i < forecasts.length; i++) if (!Number.isFinite(forecasts[i])) found.add(Math.floor(i / rowLength));
  return [...found];
}

assert(parentPort !== null, 'this file is the body of a worker thread');
const port = parentPort;
const send = (message: ThreadMessage, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const loaded: LoadedModel[] = [];
const refusals: string[] = [];
for (const result of await Promise.allSettled((workerData as readonly ThreadModel[]).map(load))) {
  if (result.status === 'fulfilled') loaded.push(result.value);
  else refusals.push((result.reason as Error).message);
}
if (refusals.length > 0) throw new Error(refusals.join('\n'));

/** From here on: opening the models is no forecast. */
const cpuMs = processorClock(() => process.threadCpuUsage());

async function answer(request: RunRequest): Promise<void> {
  const model = loaded[request.model];
  try {
    const forecasts = await run(model, request);
    send({ ...forecasts, cpuMs: cpuMs() }, [forecasts.forecasts.buffer]);
  } catch (error) {
    send({ kind: 'failed', reason: `model ${model.model.name} cannot be run: ${(error as Error).message}` });
  }
}

/** Runs are sequential, in the order of their requests. So the time of a run contains no other run. */
let last = Promise.resolve();
port.on('message', (request: RunRequest) => {
  last = last.then(() => answer(request));
});
send({ kind: 'ready' });
