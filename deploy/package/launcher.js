#!/usr/bin/env node
const NODE_MIN = 24;
if (Number.parseInt(process.versions.node, 10) >= NODE_MIN) {
  if (process.env.npm_lifecycle_event === 'npx') endWithParent();
  await import('./main.js');
} else {
  console.error(`tidewatch needs Node ${NODE_MIN} or newer, and this is ${process.versions.node}`);
  process.exitCode = 1;
}

/** npx starts a shell and passes SIGTERM on to that alone: what the shell started would go on without it. */
function endWithParent() {
  const parent = process.ppid;
  const watched = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watched);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watched.unref();
}
