import { readFileSync } from 'node:fs';

/** A tick of the processor time in /proc, on all machines that Node runs on. */
const TICKS_PER_S = 100;

/** Processor time since their start, and resident memory, of processes together. */
export function usageOf(pids: readonly number[]): { readonly cpuS: number; readonly rssMb: number } {
  let [cpuS, rssMb] = [0, 0];
  for (const pid of pids) {
    // The name of a process, in brackets, may have blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    cpuS += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
    rssMb += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  }
  return { cpuS, rssMb };
}
