import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupOf, matchesEvent, routesOf } from '../../../../src/alerts/routes/match-event.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { routesOf as readRoutes } from '../../../fixture/alerts/routes.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';

const RECEIVER = 'receivers: [{ name: hook, webhook: { url: "https://example.com/in" } }]';
const matchOf = (match: string) =>
  readRoutes(`${RECEIVER}\nroutes: [{ name: a, receivers: hook, match: ${match} }]`).routes[0].match;

test('every condition must hold, and one of the alternatives of each', () => {
  const event = anomalyEvent({ detector: 'cpu-5min', series: 'web-1/cpu', kind: 'dip', severity: 5, grade: 0.8 });
  const holds = (match: string) => matchesEvent(matchOf(match), event);
  assert.ok(holds('{}'));
  assert.ok(
    holds('{ detector: [mem*, "cpu-*"], series: "web-?/*", kind: [spike, dip], direction: up, labels: { team: p* } }'),
  );
  assert.ok(holds('{ severity_min: 5, grade_min: 0.8 }'));
  assert.ok(!holds('{ detector: cpu }'));
  assert.ok(!holds('{ kind: spike }'));
  assert.ok(!holds('{ direction: down }'));
  assert.ok(!holds('{ severity_min: 5.1 }'));
  assert.ok(!holds('{ labels: { team: platform, tier: "*" } }'));
});

test('a bound on severity holds for no event that has none', () => {
  const silence = anomalyEvent({ kind: 'silence', severity: null, grade: null });
  assert.ok(!matchesEvent(matchOf('{ severity_min: 0 }'), silence));
  assert.ok(matchesEvent(matchOf('{ kind: silence }'), silence));
});

test('a series is matched by its labels', () => {
  const event = anomalyEvent({ series: 'up{job="web-1",zone="a"}' });
  assert.ok(matchesEvent(matchOf(`{ series: '{job=~"web-.*"}' }`), event));
  assert.ok(!matchesEvent(matchOf(`{ series: '{job=~"web-.*", zone!="a"}' }`), event));
  const labelled = anomalyEvent({ series: 'web-1', seriesLabels: { job: 'web-1' } });
  assert.ok(matchesEvent(matchOf(`{ series: '{job="web-1"}' }`), labelled));
  const group = anomalyEvent({ series: null, group: '{job="web-1"}' });
  assert.ok(matchesEvent(matchOf(`{ series: '{job="web-1"}' }`), group));
  assert.equal(
    groupOf(['series_labels.job', 'series_labels.zone'], labelled),
    'series_labels.job=web-1,series_labels.zone=',
  );
});

test('an event that an earlier version kept has no labels but those of its id', () => {
  const { seriesLabels: _, ...kept } = anomalyEvent({ series: 'up{job="web-1"}' });
  assert.ok(matchesEvent(matchOf(`{ series: '{job="web-1"}' }`), kept as AnomalyEvent));
  assert.equal(groupOf(['series_labels.job'], kept as AnomalyEvent), 'series_labels.job=');
});

test('a group is matched and named by its id', () => {
  const event = anomalyEvent({ series: null, group: 'checkout' });
  assert.ok(matchesEvent(matchOf('{ series: check* }'), event));
  assert.equal(
    groupOf(['detector', 'group', 'labels.team', 'labels.none'], event),
    'detector=cpu,group=checkout,labels.team=platform,labels.none=',
  );
});

test('a pause of a whole detector is about each of its series: no condition on series leaves it out', () => {
  const pause = anomalyEvent({ detector: 'web', kind: 'silence', series: null, group: null, seriesCount: 40 });
  assert.ok(matchesEvent(matchOf('{ series: web-7 }'), pause));
  assert.ok(matchesEvent(matchOf('{ detector: web, kind: silence }'), pause));
  assert.ok(!matchesEvent(matchOf('{ detector: db, series: "*" }'), pause));
});

test('the first route that matches takes an event, unless it continues', () => {
  const { routes } = readRoutes(`${RECEIVER}
routes:
  - { name: a, receivers: hook, match: { kind: dip } }
  - { name: b, receivers: hook, match: { detector: cpu }, continue: true }
  - { name: c, receivers: hook }
  - { name: d, receivers: hook }`);
  const names = (changes: Parameters<typeof anomalyEvent>[0]) =>
    routesOf(routes, 'events', ({ match }) => matchesEvent(match, anomalyEvent(changes))).map(({ name }) => name);
  assert.deepEqual(names({ kind: 'dip' }), ['a']);
  assert.deepEqual(names({ kind: 'spike' }), ['b', 'c']);
  assert.deepEqual(names({ detector: 'other' }), ['c']);
});
