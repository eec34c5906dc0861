import { deserialize, serialize } from 'node:v8';
import type { TuningLoss } from '../tuning-graphs.ts';
import type { Tuned, TuningTask } from './tune.ts';

export interface TuningRequest extends Omit<TuningTask, 'rate'> {
  readonly loss: TuningLoss;
  /** 1: the head's output alone, 5: all weights. */
  readonly depth: number;
}

/** Input of the child process. */
export interface TuningInput extends TuningRequest {
  /** Name of the pretrained model. */
  readonly model: string;
  /** Initial weights. */
  readonly base: Float32Array;
}

export function inputBytes(input: TuningInput): Uint8Array {
  return serialize(input);
}

/** Deserialises only what the parent process of the child wrote. */
export function readInput(bytes: Uint8Array): TuningInput {
  return deserialize(bytes) as TuningInput;
}

const HEADER_BYTES = 4 * Float64Array.BYTES_PER_ELEMENT;

/**
 * Step, coefficient and the two validation losses (NaN without validation) as float64, then theta as float32;
 * little-endian.
 */
export function outputBytes({ theta, step, coefficient, validation }: Tuned): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + theta.byteLength);
  const { before, after } = validation ?? { before: Number.NaN, after: Number.NaN };
  bytes.set(new Uint8Array(Float64Array.of(step, coefficient, before, after).buffer));
  bytes.set(new Uint8Array(theta.buffer, theta.byteOffset, theta.byteLength), HEADER_BYTES);
  return bytes;
}

export function readOutput(bytes: Uint8Array): Tuned {
  const copy = bytes.slice();
  const [step, coefficient, before, after] = new Float64Array(copy.buffer, 0, 4);
  const theta = new Float32Array(copy.buffer.slice(HEADER_BYTES));
  return { theta, step, coefficient, validation: Number.isNaN(before) ? null : { before, after } };
}
