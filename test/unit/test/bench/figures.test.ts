import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RecordedBench, withRun } from '../../../bench/figures.ts';

const run = (figures: RecordedBench['figures'], date = '2026-01-01'): RecordedBench => ({
  command: 'npm run bench -- stream',
  date,
  load: 0.1,
  machine: '2 cores',
  figures,
});

test('a run of some parts of a bench leaves the figures of the others', () => {
  const recorded = withRun(withRun({}, 'stream', run({ p50_ms: 40, p99_ms: 70 })), 'history', run({ p50_ms: 3 }));
  const after = withRun(recorded, 'stream', run({ p99_ms: 60 }, '2026-01-02'));
  assert.deepEqual(after.stream, run({ p50_ms: 40, p99_ms: 60 }, '2026-01-02'));
  assert.deepEqual(Object.keys(after), ['history', 'stream']);
});
