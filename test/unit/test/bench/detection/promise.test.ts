import assert from 'node:assert/strict';
import test from 'node:test';
import { alarmRecord, episodesOf } from '../../../../bench/detection/promise.ts';

const ROWS = 1_000;
const input = {
  ...{ name: 's02', source: 'A', stepMs: 60_000, split: 200, vusWindow: 10 },
  times: Float64Array.from({ length: ROWS }, (_, row) => row * 60_000),
  channels: [new Float64Array(ROWS)],
  labels: Uint8Array.from({ length: ROWS }, (_, row) => (row >= 500 && row < 510 ? 1 : 0)),
};

function flagged(...rows: readonly number[]): Uint8Array {
  const alarm = new Uint8Array(ROWS);
  for (const row of rows) alarm[row] = 1;
  return alarm;
}

test('alarms without a gap of a detection window between them are one episode', () => {
  assert.deepEqual(episodesOf(flagged(3, 4, 28, 53)), [
    { start: 3, end: 29 },
    { start: 53, end: 54 },
  ]);
});

test('rows and episodes outside of incidents are false, and so are alarms of the first rows', () => {
  const grade = new Float64Array(ROWS).fill(0, 0, 900).fill(Number.NaN, 900);
  const record = alarmRecord(input, { grade, severity: grade, alarm: flagged(100, 250, 251, 503, 504, 700) });
  const { reported, normalRows, falseRows, episodes, falseEpisodes, delays, firstFalseRows } = record;
  assert.deepEqual(
    { reported, normalRows, falseRows, episodes, falseEpisodes, delays, firstFalseRows },
    // 700 judged rows after the warm-up, without the incident, two rows before it and five behind.
    {
      ...{ reported: true, normalRows: 700 - 17, falseRows: 3, episodes: 3, falseEpisodes: 2 },
      ...{ delays: [3], firstFalseRows: 1 },
    },
  );
});
