/** The program of the sandbox child: runs one tuning after the other. */
import type { Sandboxed } from '../../sandbox/program.ts';
import { inThreadTuner, type TunableModel } from './in-thread-tuner.ts';
import { outputBytes, readInput } from './tuning-bytes.ts';

export const sandboxed: Sandboxed = async (setup) => {
  const tuneInThread = inThreadTuner(JSON.parse(Buffer.from(setup).toString()) as readonly TunableModel[]);
  return async (input, { signal, progress }) => {
    const tuned = await tuneInThread(readInput(input), { signal, progress: (step) => progress(stepBytes(step)) });
    return outputBytes(tuned);
  };
};

/** The number of steps done, as the parent reads it. */
function stepBytes(step: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(step);
  return bytes;
}
