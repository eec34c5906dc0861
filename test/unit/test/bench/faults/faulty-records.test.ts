import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  arrivalsOf,
  FAULTS,
  type FaultName,
  inOrder,
  LATENESS_STEPS,
} from '../../../../bench/faults/faulty-records.ts';
import { seededRandom } from '../../../../fixture/seeded-random.ts';

const STEP_MS = 300_000;
const ROWS = 10_000;
const input = {
  name: 's',
  stepMs: STEP_MS,
  times: Float64Array.from({ length: ROWS }, (_, row) => row * STEP_MS),
  channels: [Float64Array.from({ length: ROWS }, (_, row) => row)],
};
/** Every other 500 rows. */
const kept = Uint8Array.from({ length: ROWS }, (_, row) => Math.floor(row / 500) % 2);

function faulted(faults: readonly FaultName[]) {
  const counts = { ...(Object.fromEntries(FAULTS.map((one) => [one, 0])) as Record<FaultName, number>), lost: 0 };
  const plan = { faults: new Set(faults), kept, random: seededRandom(1), stepMs: STEP_MS };
  return { arrivals: inOrder(arrivalsOf(input, plan, counts)), counts };
}

test('without faults every row arrives once, in order, at its time', () => {
  const { arrivals, counts } = faulted([]);
  assert.deepEqual(
    arrivals.map(({ row }) => row),
    [...input.times.keys()],
  );
  assert.ok(arrivals.every(({ timestampMs, row }) => timestampMs - arrivals[0].timestampMs === row * STEP_MS));
  assert.ok(Object.values(counts).every((count) => count === 0));
});

test('no fault takes a row near an incident, and what is lost is counted', () => {
  const { arrivals, counts } = faulted(FAULTS);
  const arrived = new Set(arrivals.map(({ row }) => row));
  const gone = [...input.times.keys()].filter((row) => !arrived.has(row));
  assert.ok(gone.every((row) => kept[row] === 0));
  assert.equal(gone.length, counts.lost + counts['wrong-times']);
  assert.ok(FAULTS.every((fault) => counts[fault] > 0));
});

test('no record is later than the lateness that the detector allows', () => {
  const { arrivals } = faulted(['jitter', 'reordering', 'duplicates']);
  let newest = 0;
  for (const { timestampMs } of arrivals) {
    assert.ok(timestampMs > newest - LATENESS_STEPS * STEP_MS);
    newest = Math.max(newest, timestampMs);
  }
});
