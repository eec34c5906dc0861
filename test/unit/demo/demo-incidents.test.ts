import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disturbed, INCIDENT_PERIOD, incidentAt, type Parts } from '../../../src/demo/demo-incidents.ts';
import { DEMO_INCIDENT_KINDS, DEMO_PLAN, type DemoIncidentKind } from '../../../src/demo/demo-plan.ts';

const UNIT = 6;
/** A season that rises by 1 a step, and noise that changes its sign. */
const partsAt = (step: number): Parts => ({ base: 100, season: step, noise: step % 2 === 0 ? 1 : -1 });
const normal = (step: number) => partsAt(step).base + partsAt(step).season + partsAt(step).noise;
/** The values of an incident that begins at step 10. */
const valuesOf = (kind: DemoIncidentKind) => {
  const incident = { kind, start: 10, end: 10 + DEMO_PLAN.incidents[kind].steps };
  return Array.from({ length: DEMO_PLAN.incidents[kind].steps }, (_, i) =>
    disturbed(incident, 10 + i, { unit: UNIT, partsAt }),
  );
};
const distances = (kind: DemoIncidentKind) => valuesOf(kind).map((value, i) => value - normal(10 + i));

test('an incident begins once in a period, at its phase, and lasts its steps', () => {
  for (const kind of DEMO_INCIDENT_KINDS) {
    const steps = Array.from({ length: 2 * INCIDENT_PERIOD }, (_, i) => i - INCIDENT_PERIOD + 700);
    const under = steps.filter((step) => incidentAt(kind, 700, step) !== null);
    assert.equal(under.length, 2 * DEMO_PLAN.incidents[kind].steps);
    assert.deepEqual(incidentAt(kind, 700, 701), { kind, start: 700, end: 700 + DEMO_PLAN.incidents[kind].steps });
    assert.equal(incidentAt(kind, 700, 699), null);
  }
});

test('a spike is short and high', () => {
  assert.equal(distances('spike').length, 2);
  assert.ok(distances('spike').every((distance) => distance === 4 * UNIT));
});

test('a shifted level stays off by the same distance', () => {
  assert.ok(distances('level-shift').every((distance) => distance === 2 * UNIT));
});

test('a drift moves away further with every step', () => {
  const drift = distances('drift');
  assert.ok(drift.every((distance, i) => distance > (drift[i - 1] ?? 0)));
  assert.ok(drift.at(-1)! > 5 * UNIT);
});

test('a stuck value does not change', () => {
  assert.deepEqual(new Set(valuesOf('stuck')), new Set([normal(10)]));
});

test('without its season a series stays at its base, with its usual noise', () => {
  assert.ok(valuesOf('dropped-season').every((value, i) => value === 100 + partsAt(10 + i).noise));
});

test('a burst has more noise about the same mean', () => {
  const burst = distances('burst');
  assert.ok(burst.every((distance) => Math.abs(distance) >= UNIT));
  assert.equal(
    burst.reduce((sum, distance) => sum + distance, 0),
    0,
  );
});
