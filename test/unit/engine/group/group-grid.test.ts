import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bothWays, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import { detectorConfig, STEP_MS, streamSettings } from '../../../fixture/stream/stream-run.ts';

const settings = streamSettings({ thresholdMethod: 'multivariate', calibrationSize: 28, gapLimit: 32 });
const detector = detectorConfig({ group: 'group', settings });

/** Of a step, from -1 to 1, without any order. */
const noise = (i: number) => (((i * 7_919) % 101) - 50) / 50;
/** A time between two steps in whole milliseconds. */
const exact = (step: number) => Math.round(step * STEP_MS) / STEP_MS;

/** Steps of three members that differ from the grid by `offOf(step, member)` steps. */
function steps(count: number, offOf: (step: number, member: number) => number): TimedValue[] {
  return Array.from({ length: count }, (_, step) =>
    ['a', 'b', 'c'].map((series, member): TimedValue => [series, exact(step + offOf(step, member)), (step * 7) % 5]),
  ).flat();
}

async function allScored(observations: readonly TimedValue[]) {
  const { stream, backtest } = await bothWays(observations, detector);
  for (const { duplicates, refused } of [stream, backtest]) assert.deepEqual([duplicates, refused], [0, {}]);
  for (const { scores } of [stream, backtest]) {
    // The newest steps wait for other members until their grace is over.
    assert.ok(scores.length >= observations.length - 6);
    const settled = scores.filter(({ position }) => position >= 10 && position < 290);
    const ofStep = Map.groupBy(settled, ({ position }) => position);
    assert.ok([...ofStep.values()].every(({ length }) => length === 3));
  }
}

test('members of a group whose first records lie up to half a step off the grid lose no observation to jitter', async () => {
  for (const first of [-0.5, -0.3, 0, 0.3]) {
    await allScored(steps(300, (step, member) => (step === 0 ? first : 0.2 * noise(3 * step + member))));
  }
});

test('members of a group that report one after the other share their time steps', async () => {
  await allScored(steps(300, (step, member) => 0.3 * member + 0.05 * noise(3 * step + member)));
});

test('a clock that is fast by a second a step is followed by a group', async () => {
  await allScored(steps(300, (step) => -step / 60));
});

test('on the grid nothing changes, and an observation that is sent again is a duplicate', async () => {
  const observations = steps(50, () => 0);
  const { stream } = await bothWays([...observations, ...observations.slice(-2)], detector);
  assert.deepEqual([stream.duplicates, stream.refused], [2, {}]);
});
