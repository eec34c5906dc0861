import assert from 'node:assert/strict';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import {
  detectorConfig,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../../fixture/stream-log/memory-log.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const settings = streamSettings({ silenceAfter: null });
const watching = detectorConfig({ settings, labels: { team: 'web' } });

/** A broker on which a worker opened an event of `s` that goes on, and one that scores what comes next. */
async function withOpenEvent(first: DetectorConfig = watching) {
  const broker = new MemoryBroker(TOPICS, 1);
  let step = 0;
  const feed = (series: string, value: number) => {
    broker.appendRecord(0, observationRecord(series, step, value, first.group === null ? undefined : 'g'));
  };
  const worked = async (detectors: readonly DetectorConfig[], steps: number, valueAt: (step: number) => number) => {
    for (const end = step + steps; step < end; step++) for (const series of ['s', 'other']) feed(series, valueAt(step));
    const run = streamRun({ detectors, broker });
    await run.scoreAll();
    return run.events().filter(({ series }) => series === 's' || series === null);
  };
  const opened = await worked([first], 62, (at) => (at >= 60 ? 900 : 10 + (at % 3)));
  assert.ok(opened.length > 0);
  assert.notEqual(opened.at(-1)?.type, 'closed');
  return { opened: opened.length, worked };
}

test('new settings close the open event of a series once, with its labels', async () => {
  const { opened, worked } = await withOpenEvent();
  const other = detectorConfig({ settings: { ...settings, context: 30 } });
  const events = await worked([other], 1, () => 10);
  const { type, closeReason, labels, eventId, endedAtMs, updatedAtMs } = events[opened];
  assert.deepEqual([type, closeReason, labels], ['closed', 'settings_changed', { team: 'web' }]);
  assert.equal(eventId, events[opened - 1].eventId);
  assert.equal(updatedAtMs, endedAtMs);
  const later = await worked([other], 8, () => 10);
  assert.deepEqual(later.filter(({ closeReason: reason }) => reason === 'settings_changed').length, 1);
});

test('a removed detector closes the events of its series with the next record of the partition', async () => {
  const { opened, worked } = await withOpenEvent();
  const elsewhere = detectorConfig({ series: ['other'], settings });
  const events = await worked([elsewhere], 1, () => 10);
  const actual = events.slice(opened).map(({ type, closeReason }) => [type, closeReason]);
  assert.deepEqual(actual, [['closed', 'detector_removed']]);
  assert.equal((await worked([elsewhere], 3, () => 10)).length, opened + 1);
});

test('the same holds for a group', async () => {
  const group = { ...settings, thresholdMethod: 'multivariate', calibrationSize: 28 } as const;
  const { opened, worked } = await withOpenEvent(detectorConfig({ group: 'group', settings: group }));
  const events = await worked([detectorConfig({ group: 'group', settings: { ...group, context: 30 } })], 1, () => 10);
  assert.equal(events[opened].closeReason, 'settings_changed');
});

test('new rules and a new level leave an open event as it is', async () => {
  const { opened, worked } = await withOpenEvent();
  const other = { ...watching, settings: { ...settings, level: 80 }, labels: { team: 'other' } };
  const events = await worked([other], 60, (at) => 10 + (at % 3));
  const closed = events.slice(opened).find(({ type }) => type === 'closed');
  assert.equal(closed?.closeReason, 'recovered');
  assert.equal(closed?.eventId, events[opened - 1].eventId);
});
