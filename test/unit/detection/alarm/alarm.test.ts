import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALARM_STATE, judgeRow } from '../../../../src/detection/alarm/alarm.ts';
import { seededRandom } from '../../../fixture/seeded-random.ts';

const TARGET = { rate: 0.01, gap: 24, isGroup: false };

function alarmsOf(sharps: readonly number[], target = TARGET): boolean[] {
  const state = new Float64Array(ALARM_STATE.count);
  return sharps.map((sharp) => judgeRow(state, 0, { sharp, wide: sharp }, target).alarm);
}

test('a series that was quiet for weeks is not in alarm for weeks once it stirs', () => {
  const quiet = Array(12_000).fill(0);
  const stirred = Array.from({ length: 4_000 }, (_, i) => 2 + (i % 7) / 2);
  const alarms = alarmsOf([...quiet, ...stirred]);
  assert.ok(alarms.filter(Boolean).length < 400);
});

test('rows that show less than half of their own scales raise no alarm, however long none came', () => {
  const clean = Array.from({ length: 20_000 }, (_, i) => 1.4 + 1.5 * Math.sin(i / 50));
  assert.equal(alarmsOf(clean).filter(Boolean).length, 0);
});

test('an incident after a long quiet stretch raises an alarm', () => {
  assert.equal(alarmsOf([...Array(12_000).fill(0), 30]).at(-1), true);
});

test('an alarm far beyond the threshold hides the next one less than one that just exceeds it', () => {
  const thresholdBehind = (sharp: number) => {
    const state = new Float64Array(ALARM_STATE.count);
    const { alarm } = judgeRow(state, 0, { sharp, wide: sharp }, TARGET);
    assert.ok(alarm);
    return state[ALARM_STATE.at.threshold];
  };
  const [near, far, farther] = [9, 90, 900].map(thresholdBehind);
  assert.ok(near > 0.2 && far < 0.05 && farther < far, `${near}, ${far}, ${farther}`);
});

test('a target rate beyond what episodes with gaps between them can have never makes one that does not end', () => {
  const random = seededRandom(7);
  const noise = Array.from({ length: 20_000 }, () => 4 * (random() + random() + random()));
  for (const gap of [48, 100, 300]) {
    const share = alarmsOf(noise, { rate: 0.01, gap, isGroup: false }).filter(Boolean).length / noise.length;
    assert.ok(share < 0.1, `gap ${gap}: ${share} of the rows are alarms`);
  }
});
