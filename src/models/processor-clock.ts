/**
 * Milliseconds of processor time since it was last asked. A thread's time moves at ticks of the scheduler and when the
 * thread sleeps: of a run shorter than a tick (4 ms) the difference of two readings around it is often 0. Here such a
 * run is counted with the next one, and with it what the thread does between runs.
 * @param read user and system time so far, microseconds
 */
export function processorClock(read: () => NodeJS.CpuUsage): () => number {
  const microseconds = () => {
    const { user, system } = read();
    return user + system;
  };
  let last = microseconds();
  return () => {
    const before = last;
    last = microseconds();
    return (last - before) / 1_000;
  };
}
