import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelledEvents, labelsRaised } from '../../../../src/api/operations/labels-raised.ts';
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
