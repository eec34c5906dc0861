import { deserialize, serialize } from 'node:v8';
import type { Tuned, TuningTask } from './tune.ts';
import type { TuningLoss } from './tuning-graphs.ts';

/** What a tuning is told of. */
export interface TuningRequest extends Omit<TuningTask, 'rate'> {
  readonly loss: TuningLoss;
  /** 1 little, 5 the entire model. */
  readonly depth: number;
}

/** The same as it goes to the child. */
export interface TuningInput extends TuningRequest {
  /** The pretrained model. */
  readonly model: string;
  /** The weights it begins with. */
  readonly base: Float32Array;
}

export function inputBytes(input: TuningInput): Uint8Array {
  return serialize(input);
}

/** Only what this process wrote is read by this: it comes from the parent of a child. */
export function readInput(bytes: Uint8Array): TuningInput {
  return deserialize(bytes) as TuningInput;
}

const HEADER_BYTES = 4 * Float64Array.BYTES_PER_ELEMENT;

/** The step, the share, the two losses (NaN where there are none), then theta; little-endian as all machines are that this runs on. */
export function outputBytes({ theta, step, share, validation }: Tuned): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + theta.byteLength);
  const none = Number.NaN;
  bytes.set(new Uint8Array(Float64Array.of(step, share, validation?.before ?? none, validation?.after ?? none).buffer));
  bytes.set(new Uint8Array(theta.buffer, theta.byteOffset, theta.byteLength), HEADER_BYTES);
  return bytes;
}

export function readOutput(bytes: Uint8Array): Tuned {
  const copy = bytes.slice();
  const [step, share, before, after] = new Float64Array(copy.buffer, 0, 4);
  const theta = new Float32Array(copy.buffer.slice(HEADER_BYTES));
  const validation = Number.isNaN(before) ? null : { before: before!, after: after! };
  return { theta, step: step!, share: share!, validation };
}
