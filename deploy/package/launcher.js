#!/usr/bin/env node
const NODE_MIN = 24;
if (Number.parseInt(process.versions.node, 10) >= NODE_MIN) await import('./main.js');
else {
  console.error(`tidewatch needs Node ${NODE_MIN} or newer, and this is ${process.versions.node}`);
  process.exitCode = 1;
}
