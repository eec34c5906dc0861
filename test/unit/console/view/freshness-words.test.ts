import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Freshness } from '../../../../src/api/wire/schema/operations/freshness-schema.ts';
import { shownFreshness } from '../../../../src/console/view/freshness-words.ts';

const NOW = new Date(2026, 4, 1, 14, 5).getTime();
const CURRENT: Freshness = {
  at: NOW,
  problem: null,
  newest: NOW - 120_000,
  stored_at: NOW,
  series: { judged: 12, calibrating: 0, silent: 0 },
  workers: { members: 1, lag: 3, stalled_since: null },
  incidents: null,
  unwatched: null,
};
const of = (changes: Partial<Freshness>, freshnessFailure: string | null = null) =>
  shownFreshness({ freshness: { ...CURRENT, ...changes }, freshnessFailure }, NOW);

test('as expected is said only of series that are judged, with those that are not', () => {
  assert.deepEqual(of({}), {
    isCurrent: true,
    mark: 'Live',
    reason: '12 series judged. The newest observation is of 14:03.',
    remains: '',
  });
  const series = { judged: 1, calibrating: 3, silent: 2 };
  const unwatched = { records: 5, of: 40, examples: [] };
  assert.equal(
    of({ series, unwatched })?.reason,
    '1 series judged, 3 series calibrating, 2 series silent, 5 records of the newest 40 not watched by any detector.' +
      ' The newest observation is of 14:03.',
  );
});

test('nothing is said of how current a service without a stream is', () => {
  assert.equal(shownFreshness({ freshness: null, freshnessFailure: null }, NOW), null);
});

test('nothing is known before the first answer', () => {
  assert.equal(shownFreshness({ freshness: undefined, freshnessFailure: null }, NOW), null);
});

const STOPPED = { reason: 'nothing arrived', since: NOW - 300_000, due: '5min' };

const NOT_CURRENT: readonly (readonly [Partial<Freshness>, string | null, string, string])[] = [
  [{}, 'failed to fetch', 'Not connected', 'Nothing is known since 14:05: failed to fetch'],
  [
    { problem: { reason: 'Kafka does not answer', since: NOW - 300_000, due: null } },
    null,
    'Not current',
    'Nothing new is read since 14:00: Kafka does not answer. The newest observation is of 14:03.',
  ],
  [
    { problem: { ...STOPPED, since: NOW - 3_900_000 } },
    null,
    'No input',
    'Nothing arrived since 13:00, due every 5min.',
  ],
  [
    { problem: STOPPED, workers: { members: 0, lag: 1, stalled_since: null }, newest: null },
    null,
    'No worker',
    'Nothing is scored: no worker runs, and 1 observation waits.',
  ],
  [{ workers: null, newest: null }, null, 'Not known', 'Kafka does not say whether anything is scored.'],
  [
    { workers: { members: 0, lag: 1, stalled_since: null }, newest: null },
    null,
    'No worker',
    'Nothing is scored: no worker runs, and 1 observation waits.',
  ],
  [
    { workers: { members: 2, lag: 1_500, stalled_since: NOW - 90_000 }, newest: null },
    null,
    'Behind',
    'Nothing was scored for 1 min, and 1,500 observations wait.',
  ],
  [
    { series: { judged: 0, calibrating: 12, silent: 0 } },
    null,
    'Not judged',
    'No series is judged yet: 12 series calibrating.',
  ],
  [
    { series: { judged: 0, calibrating: 0, silent: 0 } },
    null,
    'Not judged',
    'No series is judged yet, and none is calibrating.',
  ],
];

for (const [changes, failure, mark, reason] of NOT_CURRENT) {
  test(`not current: ${reason}`, () => {
    const freshness = of(changes, failure);
    assert.equal(freshness?.isCurrent, false);
    assert.deepEqual([freshness?.mark, freshness?.reason], [mark, reason]);
  });
}
