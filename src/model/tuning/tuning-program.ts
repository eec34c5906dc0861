/** What runs in the sandbox: one tuning after the other, on sessions that are opened when they are first needed. */
import assert from 'node:assert/strict';
import type { InferenceSession } from 'onnxruntime-node';
import type { Sandboxed } from '../../sandbox/program.ts';
import { openStepGraph, stepGraph } from './step-graph.ts';
import { tune } from './tune.ts';
import { outputBytes, readInput } from './tuning-bytes.ts';
import type { TuningGraphs } from './tuning-graphs.ts';

/** A model that can be tuned. */
export interface ProgramModel {
  readonly name: string;
  readonly stepPath: string;
  readonly graphs: TuningGraphs;
}

/** Of Adam, by depth: the more of the model moves, the less each weight may. */
const RATES = [1.3e-2, 3e-3, 1e-3, 2e-4, 2e-4];
const SEED = 0x7157a7e5;

export const sandboxed: Sandboxed = async (setup) => {
  const models = JSON.parse(Buffer.from(setup).toString()) as readonly ProgramModel[];
  const sessions = new Map<string, InferenceSession>();
  return async (input, { signal, progress }) => {
    const { model: name, base, loss, depth, ...task } = readInput(input);
    const model = models.find((each) => each.name === name);
    assert(model !== undefined, `no model ${name} to tune`);
    const session = sessions.get(name) ?? (await openStepGraph(model.stepPath));
    sessions.set(name, session);
    const tuned = await tune(
      { ...task, rate: RATES[depth - 1] },
      base,
      stepGraph(session, model.graphs, { loss, depth }),
      { chance: chanceOf(SEED), signal, progress: (step) => progress(stepBytes(step)) },
    );
    return outputBytes(tuned);
  };
};

/** How far a tuning has come, as its parent reads it. */
function stepBytes(step: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(step);
  return bytes;
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
