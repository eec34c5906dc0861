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

test('a row just above the threshold raises it and is no alarm', () => {
  const judged = (sharp: number) => {
    const state = new Float64Array(ALARM_STATE.count);
    const { alarm } = judgeRow(state, 0, { sharp, wide: sharp }, TARGET);
    return { alarm, threshold: state[ALARM_STATE.at.threshold] };
  };
  const [under, above, beyond] = [8, 10, 12].map(judged);
  assert.deepEqual([under.alarm, above.alarm, beyond.alarm], [false, false, true]);
  assert.ok(under.threshold < 0 && above.threshold > beyond.threshold && beyond.threshold > 0);
});

test('episodes of a series without incidents come at the target rate, in its first 10,000 rows, too', () => {
  const random = seededRandom(3);
  const rate = 0.001;
  const [rows, series] = [10_000, 40];
  const episodes = Array.from({ length: series }, () => {
    // The tail of most series: the statistic of the alarm is S here, since the rows before add nothing.
    const sharps = Array.from({ length: rows }, (_, i) => (i % 3 === 0 ? 19.6 * (0.001 / (3 * random())) ** 0.36 : 0));
    const alarms = alarmsOf(sharps, { rate, gap: 24, isGroup: false });
    return alarms.filter((alarm, i) => alarm && !alarms.slice(Math.max(0, i - 24), i).includes(true)).length;
  });
  const measured = episodes.reduce((sum, each) => sum + each, 0) / (rows * series * rate);
  assert.ok(measured > 0.8 && measured < 1.35, `${measured} of the target`);
});

test('an alarm far beyond the threshold hides the next one less than one that just exceeds it', () => {
  const thresholdBehind = (sharp: number) => {
    const state = new Float64Array(ALARM_STATE.count);
    const { alarm } = judgeRow(state, 0, { sharp, wide: sharp }, TARGET);
    assert.ok(alarm);
    return state[ALARM_STATE.at.threshold];
  };
  const [near, far, farther] = [11, 90, 900].map(thresholdBehind);
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
