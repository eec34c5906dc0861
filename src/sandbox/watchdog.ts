/** Kills the child when its parent has ended. Work that never yields does not notice the closed socket. */
import { workerData } from 'node:worker_threads';

const PARENT_CHECK_MS = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
}, PARENT_CHECK_MS);
