import { randomUUID } from 'node:crypto';
import type { AnomalyEvent, EventType } from '../records/anomaly-event.ts';
import { identify, openingOf } from './message/notification.ts';
import { type OpenReceiver, openReceivers } from './receivers/open-receivers.ts';
import type { DeliveryOutcome } from './receivers/receiver.ts';
import { type Routes, replacesShown } from './routes/alert-route.ts';

const ROUTE = 'test';

interface TestAnswer {
  readonly type: EventType;
  readonly outcome: DeliveryOutcome;
}

/**
 * Sends a test message to one receiver of a routes file, once: nothing is repeated or kept.
 * @returns the answers; the last one is no acceptance where the test failed
 */
export async function sendTestAlert(
  { receivers, allowPrivate }: Pick<Routes, 'receivers' | 'allowPrivate'>,
  name: string,
  { nowMs, stop }: { readonly nowMs: number; readonly stop: AbortSignal },
): Promise<readonly TestAnswer[]> {
  const [open] = openReceivers({ receivers: receivers.filter((receiver) => receiver.name === name), allowPrivate });
  const opened = testEvent(nowMs);
  const end = { type: 'closed', revision: 1, endedAtMs: nowMs, closeReason: 'recovered' } as const;
  const closed: AnomalyEvent = { ...opened, ...end };
  const answers: TestAnswer[] = [];
  try {
    // Where a receiver keeps what is open, what the test opens is closed at once.
    for (const event of replacesShown(open.settings.target) ? [opened, closed] : [opened]) {
      const outcome = await send(open, event, stop);
      answers.push({ type: event.type, outcome });
      if (outcome.kind !== 'accepted') break;
    }
  } finally {
    open.receiver.close();
  }
  return answers;
}

function send({ receiver, settings }: OpenReceiver, event: AnomalyEvent, stop: AbortSignal): Promise<DeliveryOutcome> {
  const notification = identify({
    receiver: settings.name,
    route: ROUTE,
    group: null,
    notices: [{ type: event.type, event, opening: openingOf({ event }) }],
    createdAtMs: event.updatedAtMs,
  });
  return receiver.send(notification, stop);
}

/** An event of no series. Each has an id of its own, so that a receiver does not take it for a repetition. */
function testEvent(nowMs: number): AnomalyEvent {
  return {
    eventId: randomUUID().replaceAll('-', ''),
    type: 'opened',
    revision: 0,
    detector: 'test',
    series: 'tidewatch-test',
    group: null,
    kind: 'spike',
    direction: 'up',
    startedAtMs: nowMs,
    firstAlarmAtMs: nowMs,
    lastAlarmAtMs: nowMs,
    peakAtMs: nowMs,
    updatedAtMs: nowMs,
    endedAtMs: null,
    severity: 1,
    grade: 0.5,
    value: 2,
    expected: 1,
    lo: 0,
    hi: 1.5,
    alarms: 1,
    observations: 1,
    closeReason: null,
    summary: 'Test message of Tidewatch: nothing is wrong',
    unusual: null,
    members: [],
    labels: {},
    seriesCount: null,
    seriesLabels: {},
    unit: null,
    recoveringSinceMs: null,
    threshold: null,
  };
}
