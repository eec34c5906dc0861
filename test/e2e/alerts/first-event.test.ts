import assert from 'node:assert/strict';
import { firstEvent } from '../../fixture/alerts/first-event.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';

kafkaTest('the demo with a routes file sends its events, and ends at Ctrl-C', async (t) => {
  const { seconds, type, title, code, err } = await firstEvent();
  t.diagnostic(`${seconds.toFixed(1)} s from the start to the first event at a webhook: ${title}`);
  assert.equal(type, 'anomaly.opened');
  assert.deepEqual([code, err], [0, '']);
});
