import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CsvReading, readObservations } from '../../../../src/tools/csv/observations.ts';

/** Berlin set its clock back from 03:00 to 02:00 at 01:00 UTC. */
const FIRST_MS = Date.UTC(2026, 9, 25, 0);
const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' });

async function timesOf(rows: readonly string[], reading: Partial<CsvReading>): Promise<(number | string)[]> {
  async function* source() {
    yield ['timestamp,value', ...rows.map((time) => `${time},1`)].join('\n');
  }
  const found: (number | string)[] = [];
  for await (const item of readObservations(source(), { onlySeries: 's', ...reading })) {
    if (item.kind === 'observation') found.push((item.timestampMs - FIRST_MS) / 60_000);
    if (item.kind === 'refused') found.push(item.reason);
    if (item.kind === 'no-time-zone') found.push('no zone');
  }
  return found;
}

for (const stepMin of [5, 30, 60]) {
  const minutes = Array.from({ length: 300 / stepMin }, (_, i) => (i - 60 / stepMin) * stepMin);
  const rows = minutes.map((minute) => local.format(FIRST_MS + minute * 60_000));
  test(`the order of rows distinguishes the two instants of a time, at steps of ${stepMin} minutes`, async () => {
    assert.deepEqual(await timesOf(rows, { timeZone: 'Europe/Berlin' }), minutes);
    assert.deepEqual(await timesOf(rows.toReversed(), { timeZone: 'Europe/Berlin' }), minutes, 'newest first');
    assert.notDeepEqual(await timesOf(rows, {}), minutes, 'as UTC they have a gap and duplicates');
  });
}

test('of rows in no order none is lost: a time that comes twice has both of its instants', async () => {
  const minutes = Array.from({ length: 36 }, (_, i) => (i - 12) * 5);
  const shuffled = minutes.map((_, i) => local.format(FIRST_MS + minutes[(i * 23) % 36] * 60_000));
  assert.deepEqual(new Set(await timesOf(shuffled, { timeZone: 'Europe/Berlin' })), new Set(minutes));
});

test('a time that names its zone keeps it; one that the clock never shows is refused', async () => {
  const timeZone = 'Europe/Berlin';
  assert.deepEqual(await timesOf(['2026-10-25T02:00:00Z', '2026-10-25T04:30:00+02:00'], { timeZone }), [120, 150]);
  const [refused] = await timesOf(['2026-03-29 02:30:00'], { timeZone, timeUnit: 'iso' });
  assert.match(String(refused), /the clock of Europe\/Berlin never shows it, since it was set forward/);
});

test('that times without a zone are read as UTC is remarked once', async () => {
  assert.deepEqual(await timesOf(['2026-10-25 00:00:00', '2026-10-25 00:05:00'], {}), ['no zone', 0, 5]);
  assert.deepEqual(await timesOf(['2026-10-25T00:00:00Z'], {}), [0]);
});
