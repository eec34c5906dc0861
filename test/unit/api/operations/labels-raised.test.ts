import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparedRaised,
  differingFirst,
  labelledEvents,
  labelsRaised,
} from '../../../../src/api/operations/labels-raised.ts';
import type { EventReviewRecord } from '../../../../src/store/reviews/event-reviews.ts';
import { anomalyEvent } from '../../../fixture/history/kept-records.ts';

const event = (startedAtMs: number, endedAtMs: number | null, series = 'a') =>
  anomalyEvent(`${startedAtMs}`, { startedAtMs, endedAtMs, series });

function review(real: boolean | null, labelled: ReturnType<typeof event>): EventReviewRecord {
  const label = real === null ? null : { atMs: 0, by: 'ann', real, note: null };
  const { eventId, startedAtMs } = labelled;
  return { eventId, startedAtMs, record: JSON.stringify(labelled), acknowledged: null, muted: null, label };
}

test('a labelled event is raised where an event of the same time is; other series and unlabelled ones do not count', () => {
  const reviews = [
    review(true, event(100, 200)),
    review(true, event(500, null)),
    review(false, event(300, 310)),
    review(null, event(100, 200)),
    review(true, event(100, 200, 'other')),
  ];
  const before = [event(90, 100), event(305, 320), event(900, null)];
  const after = [event(201, 299)];
  assert.deepEqual(labelsRaised(labelledEvents(reviews), { before, after }), {
    real: { labelled: 3, before: 2, after: 0 },
    not_real: { labelled: 1, before: 1, after: 0 },
  });
});

const raised = (startedAtMs: number, changes: Parameters<typeof anomalyEvent>[1] = {}) =>
  anomalyEvent(`${startedAtMs}`, { startedAtMs, endedAtMs: startedAtMs + 10, severity: startedAtMs, ...changes });

test('what both settings raise at one time is listed once, as the first raise it; differences come first', () => {
  const before = [raised(100), raised(200), raised(300)];
  const after = [raised(305), raised(400), raised(200, { series: 'other' })];
  const real = [
    { real: false, event: raised(195) },
    { real: true, event: raised(205) },
  ];
  const listed = differingFirst(comparedRaised({ before, after }, real));
  assert.deepEqual(
    listed.map(({ event: { startedAtMs, series }, raisedBy, real }) => [startedAtMs, series, raisedBy, real]),
    [
      [400, 'a', 'after', null],
      [200, 'a', 'before', true],
      [200, 'other', 'after', null],
      [100, 'a', 'before', null],
      [300, 'a', 'both', null],
    ],
  );
});

test('a group is no series of the same name', () => {
  const ofGroup = raised(100, { series: null, group: 'a' });
  const compared = comparedRaised({ before: [raised(100)], after: [ofGroup] }, []);
  assert.deepEqual(
    compared.map(({ raisedBy }) => raisedBy),
    ['before', 'after'],
  );
});
