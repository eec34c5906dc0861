import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dependencies } from '../../../../src/incidents/membership/dependencies.ts';
import { partsOf } from '../../../../src/incidents/membership/series-parts.ts';
import {
  ORIGINS_MAX,
  rankOrigins,
  type SeriesMove,
  strengthOf,
} from '../../../../src/incidents/origins/rank-origins.ts';
import { isOriginKnown } from '../../../../src/records/incident.ts';

function move(series: string, changes: Partial<SeriesMove> = {}): SeriesMove {
  const parts = partsOf(series);
  const still = { grade: 0.26, threshold: 0.42, isFlat: false, firstAlarmAtMs: 0, seen: null, led: null };
  return { series, parts, ...still, ...changes };
}

const first = (moves: readonly SeriesMove[]) => rankOrigins(moves)[0].common;

test('the host whose series left its own past farthest comes first', () => {
  const moves = [move('a/cpu', { grade: 0.865 }), move('b/cpu', { grade: 0.955, threshold: 0.952 }), move('c/cpu')];
  assert.equal(first(moves), 'a');
});

test('two odd metrics of a host count for more than one that is a little odder', () => {
  const moves = [
    move('a/cpu', { grade: 0.851 }),
    move('a/mem', { grade: 0.851 }),
    move('b/cpu', { grade: 0.887 }),
    move('b/mem'),
  ];
  assert.equal(first(moves), 'a');
});

test('what all siblings did counts for less', () => {
  const all = ['a', 'b', 'c', 'd'];
  const moves = [
    ...all.map((host) => move(`${host}/mem`, { grade: host === 'b' ? 0.92 : 0.915 })),
    ...all.map((host) => move(`${host}/cpu`, { grade: host === 'a' ? 0.88 : 0.26 })),
  ];
  assert.equal(first(moves), 'a');
});

test('a series that hardly varied before weighs little, however far it moved', () => {
  const moves = [move('a/cpu', { grade: 0.811 }), move('b/up', { grade: 1, threshold: 0, isFlat: true })];
  assert.equal(first(moves), 'a');
});

test('series without anything in common are candidates of their own, at most five', () => {
  const moves = Array.from({ length: 9 }, (_, i) => move(`series-${i}`, { grade: (20 + i) / (34 + i) }));
  const origins = rankOrigins(moves);
  assert.equal(origins.length, ORIGINS_MAX);
  assert.deepEqual([origins[0].series, origins[0].common], ['series-8', null]);
  assert.ok(!isOriginKnown(origins));
});

test('scores are shares of the odds of all candidates, and the first is known from a third of them on', () => {
  const known = rankOrigins([move('a/cpu', { grade: 0.9 }), move('b/cpu', { grade: 0.6 }), move('c/cpu')]);
  assert.ok(isOriginKnown(known));
  const twins = ['a', 'b', 'c'].map((host) => move(`${host}/${host}`, { grade: 0.9 }));
  const ofTwins = rankOrigins(twins).map(({ score }) => score);
  assert.deepEqual(ofTwins, [0.333, 0.333, 0.333]);
  assert.ok(!isOriginKnown(rankOrigins(twins)));
  assert.ok(!isOriginKnown(rankOrigins([move('a/cpu'), move('b/cpu')])));
  const known2 = (...scores: number[]) => isOriginKnown(scores.map((score) => ({ score })));
  assert.deepEqual(
    [
      known2(),
      known2(1),
      known2(0.34, 0.33, 0.33),
      known2(0.33, 0.3),
      known2(0.5, 0.5),
      known2(0.52, 0.48),
      known2(0.5, 0.4),
    ],
    [false, true, false, false, false, false, true],
  );
});

test('of a part with many series each further one counts less', () => {
  const many = Array.from({ length: 40 }, (_, i) => move(`a/m${i}`, { grade: 0.5 }));
  assert.equal(first([...many, move('b/cpu', { grade: 0.9 })]), 'b');
});

test('a label that names what fails is what series have in common', () => {
  const moves = ['a', 'b'].map((host) => move(`cpu{host="${host}",rack="1"}`, { grade: host === 'a' ? 0.87 : 0.26 }));
  assert.equal(first(moves), 'host=a');
});

test('a single event is named by the label that names what fails, not by the widest one', () => {
  assert.equal(first([move('cpu{cluster="eu",pod="web-1",service="web"}')]), 'service=web');
});

test('evidence is described in words', () => {
  const [origin] = rankOrigins([
    move('a/cpu', {
      grade: 0.868,
      firstAlarmAtMs: 1_000,
      seen: '38 where 13 was expected',
      led: { count: 3, of: 4 },
    }),
    move('b/cpu', { grade: 0.741, firstAlarmAtMs: 42_000 }),
  ]);
  assert.deepEqual(origin.evidence, [
    'first to move, 41 s before the others',
    'a/cpu is 4.4 times as unusual as an alarm requires',
    '38 where 13 was expected',
    'the others followed it in 3 of 4 earlier incidents',
  ]);
});

const WEB_ON_DB = new Dependencies([{ labels: { service: 'web' }, on: { service: 'db' } }]);
const ofService = (service: string, changes: Partial<SeriesMove> = {}) =>
  move(`latency{service="${service}"}`, changes);

test('what moved before the series that depend on it by a hint weighs more, which is part of its evidence', () => {
  const moves = [
    ofService('web', { grade: 0.877, firstAlarmAtMs: 42_000 }),
    ofService('db', { grade: 0.859, firstAlarmAtMs: 1_000 }),
  ];
  assert.equal(first(moves), 'service=web');
  const [origin] = rankOrigins(moves, WEB_ON_DB);
  assert.equal(origin.common, 'service=db');
  assert.ok(origin.evidence.includes('service=web depends on service=db, which moved first'));
});

test('a hint is no evidence for what moved later, or did not move', () => {
  const later = [
    ofService('web', { grade: 0.877, firstAlarmAtMs: 0 }),
    ofService('db', { grade: 0.859, firstAlarmAtMs: 9 }),
  ];
  assert.deepEqual(rankOrigins(later, WEB_ON_DB), rankOrigins(later));
  const still = [ofService('web', { grade: 0.877, firstAlarmAtMs: 9 }), ofService('db', { firstAlarmAtMs: 0 })];
  assert.deepEqual(rankOrigins(still, WEB_ON_DB), rankOrigins(still));
});

test('where nothing moved there is no evidence', () => {
  assert.deepEqual(rankOrigins([move('a/cpu'), move('b/cpu')])[0].evidence, []);
  assert.deepEqual(rankOrigins([]), []);
});

test('the strength behind a grade is finite', () => {
  assert.deepEqual([0, 0.5, 1, null].map(strengthOf), [0, 14, 1e6, null]);
});
