import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeOf } from '../../../src/demo/demo-cause.ts';
import { INCIDENT_PERIOD } from '../../../src/demo/demo-incidents.ts';
import { DEMO_SERIES, incidentOf } from '../../../src/demo/demo-series.ts';
import { timeOf } from '../../../src/demo/demo-time.ts';
import { faultOf } from '../../../src/demo/faults.ts';

const LIVE_START = 6_000_000;

test('a flagged score names the incident of the demo, and a false alarm names none', () => {
  const series = DEMO_SERIES.find(({ incident }) => incident === 'level-shift')!;
  let start = LIVE_START;
  while (incidentOf(series, start)?.start !== start) start++;
  const { end } = incidentOf(series, start)!;
  const causeAt = (step: number) => causeOf({ series: series.id, timestampMs: timeOf(step) });
  assert.deepEqual([start - 1, start, end - 1, end, start + INCIDENT_PERIOD / 2].map(causeAt), [
    null,
    'level shift',
    'level shift',
    'after: level shift',
    null,
  ]);
  assert.equal(causeOf({ series: 'of-another', timestampMs: 0 }), null);
});

test('what a series that stopped has flagged is named, and so is what follows an outage', () => {
  const steps = Array.from({ length: INCIDENT_PERIOD }, (_, i) => LIVE_START + i);
  const stopped = DEMO_SERIES.find(({ id }) => steps.some((step) => faultOf(id, step)?.kind === 'silence'))!;
  const silent = steps.find((step) => faultOf(stopped.id, step)?.kind === 'silence')!;
  assert.equal(causeOf({ series: stopped.id, timestampMs: timeOf(silent) }), 'series that stopped');
  const calm = DEMO_SERIES.find(({ incident }) => incident === null)!;
  const { end } = faultOf(calm.id, steps.find((step) => faultOf(calm.id, step)?.kind === 'outage')!)!;
  assert.equal(causeOf({ series: calm.id, timestampMs: timeOf(end) }), 'after: outage');
});
