import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timelineLanes } from '../../../../src/console/view/timeline-lanes.ts';
import { seen } from '../../../fixture/console/seen-event.ts';

test('an open event reaches until now, and one outside of the time is left out', () => {
  const open = seen({ event_id: 'open', started_at: 50, ended_at: null });
  const before = seen({ event_id: 'before', started_at: 10, ended_at: 20 });
  const ended = seen({ event_id: 'ended', detector: 'hosts', started_at: 30, ended_at: 75 });
  const lanes = timelineLanes([open, before, ended], { from: 50, to: 150 }, 100);
  assert.deepEqual([...lanes.keys()], ['hosts', 'web']);
  assert.deepEqual(
    lanes.get('web')?.map(({ left, width }) => [left, width]),
    [[0, 0.5]],
  );
  assert.deepEqual(
    lanes.get('hosts')?.map(({ left, width }) => [left, width]),
    [[0, 0.25]],
  );
});
