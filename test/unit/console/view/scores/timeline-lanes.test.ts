import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timelineLanes } from '../../../../../src/console/view/scores/timeline-lanes.ts';
import { seen } from '../../../../fixture/console/seen-event.ts';

test('an open event reaches until now, and one outside of the time is left out', () => {
  const open = seen({ eventId: 'open', startedAtMs: 50, endedAtMs: null });
  const before = seen({ eventId: 'before', startedAtMs: 10, endedAtMs: 20 });
  const ended = seen({ eventId: 'ended', detector: 'hosts', startedAtMs: 30, endedAtMs: 75 });
  const lanes = timelineLanes([open, before, ended], { from: 50, to: 150 }, 100);
  assert.deepEqual([...lanes.keys()], ['hosts', 'web']);
  const actual = lanes.get('web')?.map(({ left, width }) => [left, width]);
  assert.deepEqual(actual, [[0, 0.5]]);
  assert.deepEqual(
    lanes.get('hosts')?.map(({ left, width }) => [left, width]),
    [[0, 0.25]],
  );
});
