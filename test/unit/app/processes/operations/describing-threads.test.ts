import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeDetectors } from '../../../../../src/app/processes/operations/describe-detectors.ts';
import { describingThreads } from '../../../../../src/app/processes/operations/describing-threads.ts';

const EXAMPLE = readFileSync('deploy/detectors.example.yaml', 'utf8');
/** Within all limits of settings; reading it takes many seconds. */
const SLOW = '? '.repeat(95_000);
/** No limit for what is to succeed: on a busy machine a thread may need a minute to start. */
const MS_MAX = 600_000;

test('a thread describes detectors, and names problems, as they are', async () => {
  const describe = describingThreads({ msMax: MS_MAX, heapMbMax: 512 });
  for (const text of [EXAMPLE, 'detectors: [{}]', EXAMPLE]) {
    assert.deepEqual(await describe(text), describeDetectors(text));
  }
});

test('a text that is made to be slow or deep is given up, and holds up nothing meanwhile', async (t) => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  const describe = describingThreads({ msMax: 1_000, heapMbMax: 512 });
  const described = await describe(SLOW);
  assert.equal(described.kind, 'problems');
  // It depends on the compiler which of them comes first.
  const given = ['detectors cannot be read: not within 1 s; simplify the file', 'detectors is nested too deeply'];
  assert.ok(described.kind === 'problems' && given.includes(described.problems.join()), JSON.stringify(described));
  assert.ok(turns > 1);
});

test('a text that needs too much memory is refused', async () => {
  const describe = describingThreads({ msMax: MS_MAX, heapMbMax: 16 });
  const described = await describe(`detectors:\n${'- {name: a, series: b}\n'.repeat(8_000)}`);
  assert.equal(described.kind, 'problems');
  assert.match(described.kind === 'problems' ? described.problems[0] : '', /cannot be read: .*memory/);
});
