import assert from 'node:assert/strict';
import { test } from 'node:test';
import { revise } from '../../../../src/detection/event/event-revision.ts';
import { NO_RULES } from '../../../../src/detection/event/open/event-rules.ts';
import { concludeSilence, silenceEvent } from '../../../../src/detection/event/silence-event.ts';

const SUBJECT = { detector: 'd', series: 's', group: null, labels: {}, rules: NO_RULES, gap: 4, stepMs: 60_000 };
const NOTICED_MS = 600_000;
const FIRST_MISSING_MS = NOTICED_MS - 3 * 60_000;

function closedAt(timestampMs: number) {
  const subject = { ...SUBJECT, idOf: (start: number | string) => `id ${start}` };
  const event = silenceEvent(subject, { position: 10, timestampMs: NOTICED_MS, offset: 3, missing: 4 })!;
  const opened = revise(event, 'opened', NOTICED_MS);
  return { opened, closed: concludeSilence(event, { position: 10, timestampMs }) };
}

test('a silence begins with its first missing value, and ends with the event time of the record that ends it', () => {
  const { opened, closed } = closedAt(900_000);
  assert.deepEqual(
    [opened.startedAtMs, opened.firstAlarmAtMs, closed.endedAtMs, closed.updatedAtMs],
    [FIRST_MISSING_MS, NOTICED_MS, 900_000, 900_000],
  );
});

test('a record from before a silence was noticed ends it when it was noticed', () => {
  const { closed } = closedAt(500_000);
  assert.deepEqual(
    [closed.startedAtMs, closed.endedAtMs, closed.updatedAtMs],
    [FIRST_MISSING_MS, NOTICED_MS, NOTICED_MS],
  );
});
