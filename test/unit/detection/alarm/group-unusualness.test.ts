import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noiseAt } from '../../../../src/demo/hash-noise.ts';
import type { Unusualness } from '../../../../src/detection/alarm/alarm.ts';
import { GROUP_SCALES, unusualGroup } from '../../../../src/detection/alarm/group-unusualness.ts';

const MEMBERS = 8;
/** What a row of one member shows, like those of normal series: mostly below 5. */
const typical = (member: number, step: number): Unusualness => {
  const number = 3 + noiseAt(member, step) ** 2;
  return { sharp: number, wide: number };
};
const steps = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const membersAt = (step: number) => steps(0, MEMBERS).map((member) => typical(member, step));

/** State after a past of typical time steps, and the most that one of them showed. */
function typicalPast(rows = 500) {
  const state = new Float64Array(GROUP_SCALES.count);
  const shown = steps(0, rows).map((step) => unusualGroup(state, membersAt(step))!.sharp);
  return { state, most: Math.max(...shown) };
}

test('one odd member among many normal ones is not diluted', () => {
  const { state, most } = typicalPast();
  const members = membersAt(500).map((member, i) => (i === 3 ? { sharp: 40, wide: 40 } : member));
  assert.ok(unusualGroup(state, members)!.sharp > 1.5 * most);
});

test('members that are a little odd at once are odder than each of them', () => {
  const { state, most } = typicalPast();
  const members = membersAt(500).map(() => ({ sharp: 9, wide: 9 }));
  const together = unusualGroup(state, members)!.sharp;
  assert.ok(together > 1.5 * most);
  assert.ok(together > 9);
});

test('a member that was observed alone shows what it shows', () => {
  const { state } = typicalPast();
  const alone = { sharp: 21, wide: 17 };
  assert.deepEqual(unusualGroup(state, [null, alone, null]), alone);
  assert.equal(unusualGroup(state, [null, null]), null);
});

test('a long incident of all members hides the next one by little', () => {
  const { state } = typicalPast(3_000);
  const odd = membersAt(0).map(() => ({ sharp: 1e6, wide: 1e6 }));
  const spike = membersAt(0).map(() => ({ sharp: 12, wide: 12 }));
  const before = unusualGroup(state.slice(), spike)!.sharp;
  for (const _ of steps(0, 100)) unusualGroup(state, odd);
  assert.ok(unusualGroup(state, spike)!.sharp > 0.7 * before);
});
