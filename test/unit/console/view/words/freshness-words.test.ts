import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Freshness } from '../../../../../src/api/wire/schema/operations/freshness-schema.ts';
import { shownFreshness } from '../../../../../src/console/view/words/freshness-words.ts';

const NOW = new Date(2026, 4, 1, 14, 5).getTime();
const CURRENT: Freshness = {
  at: NOW,
  problem: null,
  other_clusters: [],
  newest: NOW - 120_000,
  stored_at: NOW,
  series: { judged: 12, calibrating: 0, silent: 0, ended: 0 },
  workers: { members: 1, lag: 3, stalled_since: null },
  incidents: null,
  unwatched: null,
};
const of = (changes: Partial<Freshness>, freshnessFailure: string | null = null) =>
  shownFreshness({ freshness: { ...CURRENT, ...changes }, freshnessFailure }, NOW, NOW);

test('a current state counts the series that are scored, and those that are not', () => {
  assert.deepEqual(of({}), {
    isCurrent: true,
    mark: 'Live',
    reason: '12 series scored. The newest observation is of 14:03.',
    remains: '',
  });
  const series = { judged: 1, calibrating: 3, silent: 2, ended: 20 };
  const unwatched = { records: 5, of: 40, examples: [] };
  assert.equal(
    of({ series, unwatched })?.reason,
    '1 series scored, 3 calibrating, 2 silent, 20 ended; 5 of the newest 40 records match no detector.' +
      ' The newest observation is of 14:03.',
  );
});

test('scores of the present are current, however many observations wait for a commit', () => {
  assert.equal(of({ workers: { members: 1, lag: 25, stalled_since: null } })?.mark, 'Live');
});

test('a service without a stream has no state', () => {
  assert.equal(shownFreshness({ freshness: null, freshnessFailure: null }, NOW, NOW), null);
});

test('nothing is known before the first answer', () => {
  assert.equal(shownFreshness({ freshness: undefined, freshnessFailure: null }, NOW, NOW), null);
});

const STOPPED = { reason: 'nothing arrived', since: NOW - 300_000, due: '5min' };

const NOT_CURRENT: readonly (readonly [Partial<Freshness>, string | null, string, string])[] = [
  [{}, 'failed to fetch', 'Not connected', 'No answer from the service since 14:05, 0 s ago: failed to fetch'],
  [
    { problem: { reason: 'Kafka does not answer', since: NOW - 300_000, due: null } },
    null,
    'Not current',
    'Nothing was read from Kafka since 14:00, 5 min ago: Kafka does not answer. The newest observation is of 14:03.',
  ],
  [
    { problem: { ...STOPPED, since: NOW - 3_900_000 } },
    null,
    'No input',
    'No observation since 13:00, 1 h 5 min ago; one is due every 5min.',
  ],
  [
    { problem: STOPPED, workers: { members: 0, lag: 1, stalled_since: null }, newest: null },
    null,
    'No worker',
    'No worker is running, and 1 observation is waiting.',
  ],
  [{ workers: null, newest: null }, null, 'Not known', 'The state of the workers is unknown.'],
  [
    { workers: { members: 0, lag: 1, stalled_since: null }, newest: null },
    null,
    'No worker',
    'No worker is running, and 1 observation is waiting.',
  ],
  [
    { workers: { members: 2, lag: 1_500, stalled_since: NOW - 90_000 }, newest: null },
    null,
    'Behind',
    'Nothing was scored since 14:03, 1 min ago, and 1,500 observations are waiting.',
  ],
  [
    { workers: { members: 1, lag: 25, stalled_since: null }, newest: NOW - 3_600_000 },
    null,
    'Catching up',
    '25 observations are waiting to be scored. The newest observation is of 13:05.',
  ],
  [
    { series: { judged: 0, calibrating: 12, silent: 0, ended: 0 } },
    null,
    'Not scored',
    'No series is scored yet: 12 series calibrating.',
  ],
  [
    { series: { judged: 0, calibrating: 0, silent: 0, ended: 0 } },
    null,
    'Not scored',
    'No series is scored yet, and none is calibrating.',
  ],
];

for (const [changes, failure, mark, reason] of NOT_CURRENT) {
  test(`not current: ${reason}`, () => {
    const freshness = of(changes, failure);
    assert.equal(freshness?.isCurrent, false);
    assert.deepEqual([freshness?.mark, freshness?.reason], [mark, reason]);
  });
}
