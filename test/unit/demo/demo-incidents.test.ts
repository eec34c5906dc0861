import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INCIDENT_PERIOD, incidentAt } from '../../../src/demo/demo-incidents.ts';
import { DEMO_INCIDENT_KINDS, DEMO_PLAN } from '../../../src/demo/demo-plan.ts';

test('an incident begins once in a period, at its phase, and lasts its steps', () => {
  for (const kind of DEMO_INCIDENT_KINDS) {
    const steps = Array.from({ length: 2 * INCIDENT_PERIOD }, (_, i) => i - INCIDENT_PERIOD + 700);
    const under = steps.filter((step) => incidentAt(kind, 700, step) !== null);
    assert.equal(under.length, 2 * DEMO_PLAN.incidents[kind].steps);
    assert.deepEqual(incidentAt(kind, 700, 701), { kind, start: 700, end: 700 + DEMO_PLAN.incidents[kind].steps });
    assert.equal(incidentAt(kind, 700, 699), null);
  }
});
