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

function move(series: string, changes: Partial<SeriesMove> = {}): SeriesMove {
  const parts = partsOf(series);
  const still = { strength: 5, quiet: 10, isFlat: false, startedAtMs: null, seen: null, led: null };
  return { series, parts, ...still, ...changes };
}

const first = (moves: readonly SeriesMove[]) => rankOrigins(moves)[0].common;

test('the host whose series left its own past farthest comes first', () => {
  const moves = [move('a/cpu', { strength: 90 }), move('b/cpu', { strength: 300, quiet: 280 }), move('c/cpu')];
  assert.equal(first(moves), 'a');
});

test('two odd metrics of a host say more than one that is a little odder', () => {
  const moves = [
    move('a/cpu', { strength: 80 }),
    move('a/mem', { strength: 80 }),
    move('b/cpu', { strength: 110 }),
    move('b/mem'),
  ];
  assert.equal(first(moves), 'a');
});

test('what all siblings did says less', () => {
  const all = ['a', 'b', 'c', 'd'];
  const moves = [
    ...all.map((host) => move(`${host}/mem`, { strength: host === 'b' ? 160 : 150 })),
    ...all.map((host) => move(`${host}/cpu`, { strength: host === 'a' ? 100 : 5 })),
  ];
  assert.equal(first(moves), 'a');
});

test('a series that hardly varied before weighs little, however far it moved', () => {
  const moves = [move('a/cpu', { strength: 60 }), move('b/up', { strength: 1e6, quiet: 0, isFlat: true })];
  assert.equal(first(moves), 'a');
});

test('series without anything in common are candidates by themselves, at most five', () => {
  const moves = Array.from({ length: 9 }, (_, i) => move(`series-${i}`, { strength: 20 + i }));
  const origins = rankOrigins(moves);
  assert.equal(origins.length, ORIGINS_MAX);
  assert.deepEqual([origins[0].series, origins[0].common], ['series-8', null]);
  assert.equal(origins[0].score, 1);
});

test('a label that names what fails is what series have in common', () => {
  const moves = ['a', 'b'].map((host) => move(`cpu{host="${host}",rack="1"}`, { strength: host === 'a' ? 90 : 5 }));
  assert.equal(first(moves), 'host=a');
});

test('evidence is told in words', () => {
  const [origin] = rankOrigins([
    move('a/cpu', {
      strength: 92,
      startedAtMs: 1_000,
      seen: '38 where 13 was expected',
      led: { count: 3, of: 4 },
    }),
    move('b/cpu', { strength: 40, startedAtMs: 42_000 }),
  ]);
  assert.deepEqual(origin.evidence, [
    'first to move, 41 s before the others',
    'a/cpu is 5.6 times as unusual as it was in its quiet time',
    '38 where 13 was expected',
    'the others followed it in 3 of 4 earlier incidents',
  ]);
});

const WEB_ON_DB = new Dependencies([{ labels: { service: 'web' }, on: { service: 'db' } }]);
const ofService = (service: string, changes: Partial<SeriesMove> = {}) =>
  move(`latency{service="${service}"}`, changes);

test('what moved before the series that depend on it by a hint weighs more, and says so', () => {
  const moves = [
    ofService('web', { strength: 100, startedAtMs: 42_000 }),
    ofService('db', { strength: 85, startedAtMs: 1_000 }),
  ];
  assert.equal(first(moves), 'service=web');
  const [origin] = rankOrigins(moves, WEB_ON_DB);
  assert.equal(origin.common, 'service=db');
  assert.ok(origin.evidence.includes('service=web depends on service=db, which moved first'));
});

test('a hint says nothing of what moved later, or did not move', () => {
  const later = [
    ofService('web', { strength: 100, startedAtMs: 0 }),
    ofService('db', { strength: 85, startedAtMs: 9 }),
  ];
  assert.deepEqual(rankOrigins(later, WEB_ON_DB), rankOrigins(later));
  const still = [ofService('web', { strength: 100, startedAtMs: 9 }), ofService('db', { startedAtMs: 0 })];
  assert.deepEqual(rankOrigins(still, WEB_ON_DB), rankOrigins(still));
});

test('where nothing moved nothing is told', () => {
  assert.deepEqual(rankOrigins([move('a/cpu'), move('b/cpu')])[0].evidence, []);
  assert.deepEqual(rankOrigins([]), []);
});

test('the strength behind a grade is finite', () => {
  assert.deepEqual([0, 0.5, 1, null].map(strengthOf), [0, 14, 1e6, null]);
});
