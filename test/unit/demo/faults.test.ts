import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_STEPS, planFeed } from '../../../src/demo/demo-feed.ts';
import { type FaultKind, STEPS_PER_HOUR, timeOf } from '../../../src/demo/demo-plan.ts';
import { DEMO_SERIES, incidentOf } from '../../../src/demo/demo-series.ts';
import { type Fault, faultOf, sentTime, stepOfSent } from '../../../src/demo/faults.ts';

const { start, liveStart } = planFeed(new Map(), Date.UTC(2026, 4, 1));
/** Steps that are live within the first two minutes. */
const SEEN = 110;

/** Faults that begin at these steps, each once. */
function faultsWithin(from: number, until: number): Fault[] {
  const found = new Map<string, Fault>();
  for (let step = from; step < until; step++) {
    for (const { id } of DEMO_SERIES) {
      const fault = faultOf(id, step);
      if (fault?.start === step) found.set(`${fault.kind} ${step}`, fault);
    }
  }
  return [...found.values()];
}

test('a new demo has one fault of each kind in its history, and one live within two minutes', () => {
  const kinds: FaultKind[] = ['wrong-time', 'silence', 'outage'];
  for (const faults of [faultsWithin(start, liveStart), faultsWithin(liveStart, liveStart + SEEN)]) {
    const found = faults.map(({ kind }) => kind);
    assert.deepEqual(found, kinds);
  }
  assert.ok(faultsWithin(liveStart, liveStart + SEEN).every(({ end }) => end < liveStart + SEEN));
});

test('the last step of the history has every series, so that its end can be seen', () => {
  assert.ok(DEMO_SERIES.every(({ id }) => sentTime(id, liveStart - 1) === timeOf(liveStart - 1)));
});

test('an outage takes two hours of every series, and a silent series stops while the others continue', () => {
  for (const fault of faultsWithin(start, liveStart)) {
    const gone = DEMO_SERIES.filter(({ id }) => sentTime(id, fault.start) === null).length;
    assert.equal(gone, { outage: DEMO_SERIES.length, silence: 1, 'wrong-time': 0 }[fault.kind]);
    if (fault.kind !== 'wrong-time') assert.equal(fault.end - fault.start, 2 * STEPS_PER_HOUR);
  }
});

test('a wrong time leads back to its step, and is never that of a later value', () => {
  for (let step = liveStart; step < liveStart + HISTORY_STEPS; step++) {
    for (const { id } of DEMO_SERIES) {
      const time = sentTime(id, step);
      if (time === null) continue;
      assert.equal(stepOfSent(time), step);
      assert.ok(time === timeOf(step) || time > timeOf(step + 24 + 12));
    }
  }
});

test('no fault falls into an incident of its series', () => {
  for (const { series, start: begin, end } of faultsWithin(start, liveStart + SEEN)) {
    const one = DEMO_SERIES.find(({ id }) => id === series);
    for (let step = begin - 24; one !== undefined && step < end + 24; step++) assert.equal(incidentOf(one, step), null);
  }
});
