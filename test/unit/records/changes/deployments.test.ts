import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGE_BEFORE_MS, CHANGES_KEPT_MS, CHANGES_MAX } from '../../../../src/records/changes/change-limits.ts';
import type { Deployment } from '../../../../src/records/changes/deployment.ts';
import { type ConcernedSubject, Deployments } from '../../../../src/records/changes/deployments.ts';

const NOW = Date.UTC(2026, 4, 1);
const MINUTE = 60_000;

/** A deployment that concerns all series, with changes. */
function deployment(changes: Partial<Deployment> = {}): Deployment {
  return {
    id: 'deploy-1',
    time: Date.UTC(2026, 4, 1),
    timeEnd: null,
    text: 'deploy web 4.2',
    tags: [],
    labels: {},
    series: null,
    link: null,
    ...changes,
  };
}

function known(changes: readonly Partial<Deployment>[]): Deployments {
  const all = new Deployments(() => NOW);
  for (const [i, change] of changes.entries()) all.put(deployment({ id: `c${i}`, time: NOW, ...change }), NOW);
  return all;
}

const idsOf = (changes: readonly Deployment[]) => changes.map(({ id }) => id);
const of = (series: string, changes: Partial<ConcernedSubject> = {}) => [{ series, group: null, ...changes }];
const always = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;

test('a change concerns series with all of its labels, and without labels all series', () => {
  const all = known([{}, { labels: { service: 'web' } }, { labels: { service: 'web', env: 'prod' } }]);
  const concerned = (subjects: readonly ConcernedSubject[]) => idsOf(all.between(...always, subjects));
  assert.deepEqual(concerned(of('up{service="web"}')), ['c0', 'c1']);
  assert.deepEqual(concerned(of('up{env="prod",service="web"}')), ['c0', 'c1', 'c2']);
  assert.deepEqual(concerned(of('a1', { labels: { env: 'prod' }, seriesLabels: { service: 'web' } })), [
    'c0',
    'c1',
    'c2',
  ]);
  assert.deepEqual(concerned(of('shop/cart')), ['c0']);
  assert.deepEqual(concerned([{ series: null, group: null }]), ['c0'], 'a whole detector');
  assert.deepEqual(idsOf(all.between(...always)), ['c0', 'c1', 'c2']);
});

test('a change chooses series by a glob or matchers, too, also by labels that ids hide', () => {
  const all = known([{ series: 'shop/*' }, { series: '{service=~"we.*"}' }, { series: 'shop/*', labels: { a: 'b' } }]);
  assert.deepEqual(idsOf(all.between(...always, of('shop/cart'))), ['c0']);
  assert.deepEqual(idsOf(all.between(...always, of('a1', { seriesLabels: { service: 'web' } }))), ['c1']);
  assert.deepEqual(idsOf(all.between(...always, of('shop/cart', { labels: { a: 'b' } }))), ['c0', 'c2']);
});

test('relevant changes are those of the two hours before, those that continued, and those until it was known', () => {
  const all = known([
    { time: NOW - CHANGE_BEFORE_MS - 1 },
    { time: NOW - CHANGE_BEFORE_MS },
    { time: NOW - 2 * CHANGE_BEFORE_MS, timeEnd: NOW - MINUTE },
    { time: NOW + MINUTE },
  ]);
  assert.deepEqual(idsOf(all.before(of('a'), NOW)), ['c1', 'c2']);
  assert.deepEqual(idsOf(all.before(of('a'), NOW, NOW + MINUTE)), ['c3', 'c1', 'c2']);
});

test('a change of the same id replaces the one before, and is taken back by it', () => {
  const all = known([{ text: 'deploy 1' }, { id: 'c0', text: 'deploy 2' }]);
  const kept = all.between(...always).map(({ text }) => text);
  assert.deepEqual(kept, ['deploy 2']);
  all.remove('c0');
  assert.deepEqual(all.between(...always), []);
});

test('the earliest ones are forgotten beyond the limit, and all of them after a time', () => {
  let nowMs = NOW;
  const all = new Deployments(() => nowMs);
  for (let i = 0; i < 2 * CHANGES_MAX + 5; i++) all.put(deployment({ id: `c${i}`, time: i }), NOW);
  const found = all.between(...always);
  const bounds = [found.length, found[0].time, found.at(-1)!.time];
  assert.deepEqual(bounds, [CHANGES_MAX, 2 * CHANGES_MAX + 4, CHANGES_MAX + 5]);
  nowMs += CHANGES_KEPT_MS + 1;
  assert.deepEqual(all.between(...always), []);
});
