/** What runs in the sandbox: one tuning after the other. */
import type { Sandboxed } from '../../sandbox/program.ts';
import { outputBytes, readInput } from './tuning-bytes.ts';
import { type ProgramModel, tuningWork } from './tuning-work.ts';

export const sandboxed: Sandboxed = async (setup) => {
  const work = tuningWork(JSON.parse(Buffer.from(setup).toString()) as readonly ProgramModel[]);
  return async (input, { signal, progress }) => {
    return outputBytes(await work(readInput(input), { signal, progress: (step) => progress(stepBytes(step)) }));
  };
};

/** How far a tuning has come, as its parent reads it. */
function stepBytes(step: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(step);
  return bytes;
}
