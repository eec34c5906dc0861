import assert from 'node:assert/strict';
import test from 'node:test';
import { alarmRecord, episodesOf } from '../../../../bench/detection/target-rate.ts';

const ROWS = 1_000;
const input = {
  name: 's02',
  source: 'A',
  stepMs: 60_000,
  split: 200,
  vusWindow: 10,
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

test('an episode is false where it begins more than 24 rows before an incident or 48 behind its end', () => {
  const grade = new Float64Array(ROWS).fill(0, 0, 900).fill(Number.NaN, 900);
  const alarm = flagged(100, 250, 251, 475, 503, 557, 583, 700);
  const { normalRows, episodes, falseEpisodes } = alarmRecord(input, {
    grade,
    severity: grade,
    alarm,
    events: [],
  });
  assert.deepEqual(
    { normalRows, episodes, falseEpisodes },
    // 900 judged rows without those from 476 to 557. Rows 557 and 583 are an episode each; that of 557 is not false.
    { normalRows: 900 - 82, episodes: 7, falseEpisodes: 5 },
  );
});

test('the delay of an incident is counted from its start to the first alarm close to it', () => {
  const grade = new Float64Array(ROWS);
  const delaysOf = (...rows: readonly number[]) => {
    return alarmRecord(input, { grade, severity: grade, alarm: flagged(...rows), events: [] }).delays;
  };
  assert.deepEqual([delaysOf(498), delaysOf(503, 505), delaysOf(514), delaysOf(480, 515)], [[0], [3], [14], [null]]);
});
