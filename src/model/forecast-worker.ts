/**
 * An inference thread: one session for each model, one run at a time, because a run blocks the event loop it is made on.
 * Whatever is thrown here ends the thread; the forecaster then rejects its runs and starts another one.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Model } from './catalog.ts';
import type { RunRequest, RunResult, ThreadMessage } from './inference-thread.ts';

interface LoadedModel {
  readonly model: Model;
  readonly session: InferenceSession;
  readonly median: number;
}

async function load(model: Model): Promise<LoadedModel> {
  const { manifest } = model;
  try {
    const session = await InferenceSession.create(model.graphPath, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    });
    const loaded = { model, session, median: manifest.quantiles.indexOf(0.5) };
    const contextLength = manifest.contextBuckets[0];
    const values = new Float32Array(contextLength).fill(1);
    await forecast(loaded, { model: 0, rows: 1, contextLength, horizon: manifest.patch, values, quantiles: 'all' });
    return loaded;
  } catch (error) {
    throw new Error(`model ${model.name} cannot be run: ${(error as Error).message}`);
  }
}

async function forecast({ model, session, median }: LoadedModel, request: RunRequest): Promise<RunResult> {
  const { inputs, output, quantiles } = model.manifest;
  const { rows, contextLength, horizon, values } = request;
  const badRows: { row: number; reason: string }[] = [];
  const observed = maskUnobserved(values, contextLength, badRows);
  const feeds = {
    [inputs.values]: new Tensor('float32', values, [rows, contextLength]),
    [inputs.observed]: new Tensor('float32', observed, [rows, contextLength]),
    [inputs.future]: new Tensor('float32', new Float32Array(rows * horizon), [rows, horizon]),
  };
  const clockBefore = performance.now();
  const cpuBefore = process.threadCpuUsage();
  const tensor = (await session.run(feeds, [output]))[output];
  const cpu = process.threadCpuUsage(cpuBefore);
  const runMs = performance.now() - clockBefore;
  assert.deepEqual(tensor.dims, [rows, horizon, quantiles.length], `shape of ${output}`);
  const all = tensor.data as Float32Array;
  const forecasts = request.quantiles === 'all' ? Float32Array.from(all) : pick(all, median, quantiles.length);
  const rowLength = forecasts.length / rows;
  for (let row = 0; row < rows; row++) {
    if (areFinite(forecasts.subarray(row * rowLength, (row + 1) * rowLength))) continue;
    badRows.push({ row, reason: `model ${model.name} made a forecast that is not finite` });
  }
  return { forecasts, badRows, runMs, cpuMs: (cpu.user + cpu.system) / 1000 };
}

/** Puts 0 where nothing was observed, in place, and returns 1 for every observed place. Infinity is nobody's observation. */
function maskUnobserved(
  values: Float32Array,
  contextLength: number,
  badRows: { row: number; reason: string }[],
): Float32Array {
  const observed = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) {
      observed[i] = 1;
      continue;
    }
    const row = Math.floor(i / contextLength);
    if (!Number.isNaN(values[i])) badRows.push({ row, reason: 'an observation is infinite (as float32)' });
    values[i] = 0;
  }
  return observed;
}

function pick(all: Float32Array, level: number, levels: number): Float32Array<ArrayBuffer> {
  const picked = new Float32Array(all.length / levels);
  for (let i = 0; i < picked.length; i++) picked[i] = all[i * levels + level];
  return picked;
}

function areFinite(values: Float32Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

assert(parentPort !== null, 'this file is the body of a worker thread');
const port = parentPort;
const send = (message: ThreadMessage, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const loaded = await Promise.all((workerData as readonly Model[]).map(load));

async function answer(request: RunRequest): Promise<void> {
  const result = await forecast(loaded[request.model], request);
  send({ kind: 'ran', result }, [result.forecasts.buffer]);
}

port.on('message', (request: RunRequest) => void answer(request));
send({ kind: 'ready' });
