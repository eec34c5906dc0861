/** Ends the child when its parent is gone: work that spins never sees the end of its link, and would spin for ever. */
import { workerData } from 'node:worker_threads';

const PARENT_CHECK_MS = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
}, PARENT_CHECK_MS);
