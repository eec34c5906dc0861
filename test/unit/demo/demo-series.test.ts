import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INCIDENT_PERIOD } from '../../../src/demo/demo-incidents.ts';
import { DEMO_INCIDENT_KINDS, STEPS_PER_DAY } from '../../../src/demo/demo-plan.ts';
import { DEMO_SERIES, type DemoSeries, demoValue, incidentOf, partsAt } from '../../../src/demo/demo-series.ts';

const START = 5_000_000;
const period = Array.from({ length: INCIDENT_PERIOD }, (_, i) => START + i);

test('forty series of different names, every kind of incident among them, and three that are scored together', () => {
  assert.equal(DEMO_SERIES.length, 40);
  assert.equal(new Set(DEMO_SERIES.map(({ id }) => id)).size, 40);
  for (const kind of DEMO_INCIDENT_KINDS) assert.ok(DEMO_SERIES.some(({ incident }) => incident === kind));
  assert.equal(DEMO_SERIES.filter(({ group }) => group === 'checkout').length, 3);
});

test('metrics of one name have one kind of incident', () => {
  const kinds = Map.groupBy(DEMO_SERIES, ({ id, group }) => group ?? id.slice(id.indexOf('/') + 1));
  for (const series of kinds.values()) assert.equal(new Set(series.map(({ incident }) => incident)).size, 1);
});

test('values never change: a restarted demo continues the same series', () => {
  const shown = ['web-1/request-rate', 'rack-1/temperature', 'db-1/connections', 'checkout/errors'].map((id) =>
    demoValue(DEMO_SERIES.find((series) => series.id === id)!, START),
  );
  assert.deepEqual(shown, [288.9, 17.11, 109.3, 9.59]);
});

test('within every 70 steps an incident begins somewhere', () => {
  const starts = DEMO_SERIES.flatMap((series) => {
    return period.filter((step) => incidentOf(series, step)?.start === step);
  }).sort((a, b) => a - b);
  const waits = starts.map((start, i) => start - (starts[i - 1] ?? start));
  assert.ok(Math.max(...waits) <= 70, String(Math.max(...waits)));
});

test('the incidents of a database begin together, and those of other series alone', () => {
  const first = (series: DemoSeries) => period.find((step) => incidentOf(series, step)?.start === step);
  const faults = Map.groupBy(
    DEMO_SERIES.filter(({ group, incident }) => group === null && incident !== null),
    first,
  );
  const owners = [...faults.values()].map((series) => new Set(series.map(({ id }) => id.split('/')[0])));
  assert.ok(owners.every(({ size }) => size === 1));
  const actual = [...faults.values()].filter(({ length }) => length > 1).map((series) => series.map(({ id }) => id));
  const expected = ['db-1', 'db-2'].map((owner) =>
    ['latency-p95', 'memory-used', 'cpu'].map((name) => `${owner}/${name}`),
  );
  assert.deepEqual(actual, expected);
});

test('members of a group are disturbed at the same steps', () => {
  const [first, ...others] = DEMO_SERIES.filter(({ group }) => group !== null);
  for (const step of period) {
    for (const other of others) assert.deepEqual(incidentOf(other, step), incidentOf(first!, step));
  }
});

test('a season is lost, and a value stuck, while the season is large', () => {
  for (const series of DEMO_SERIES.filter(({ incident }) => incident === 'dropped-season' || incident === 'stuck')) {
    const start = period.find((step) => incidentOf(series, step)?.start === step)!;
    const day = Array.from({ length: STEPS_PER_DAY }, (_, i) => partsAt(series, start + i).season);
    assert.ok(day[0] > 0.5 * Math.max(...day), series.id);
  }
});

test('noise is small relative to the day, and no value is negative', () => {
  for (const series of DEMO_SERIES) {
    const parts = period.map((step) => partsAt(series, step));
    const spread = Math.max(...parts.map(({ season }) => season)) - Math.min(...parts.map(({ season }) => season));
    assert.ok(Math.max(...parts.map(({ noise }) => Math.abs(noise))) < spread / 2, series.id);
    assert.ok(period.every((step) => demoValue(series, step) >= 0));
  }
});
