import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { ReceiverLane } from '../../../../src/alerts/delivery/receiver-lane.ts';
import type { Notification } from '../../../../src/alerts/message/notification.ts';
import type { DeliveryOutcome } from '../../../../src/alerts/receivers/receiver.ts';
import { eventOf, notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { routesOf } from '../../../fixture/alerts/routes.ts';
import { until } from '../../../fixture/until.ts';

const FAILED: DeliveryOutcome = { kind: 'failed', detail: 'status 500', retryAfterMs: null };
const ACCEPTED: DeliveryOutcome = { kind: 'accepted' };

const nameOf = ({ notices: [notice] }: Notification) => `${notice.type} ${eventOf(notice).series}`;

const lanes: ReceiverLane[] = [];
afterEach(() => {
  for (const lane of lanes.splice(0)) lane.stop();
});

/** A lane to a receiver that answers as given; what was settled is noted. */
function laneTo(
  answer: (name: string, attempt: number) => DeliveryOutcome | Promise<DeliveryOutcome>,
  retryFor = '1d',
  onSend: (notification: Notification) => void = () => {},
) {
  const { receivers } = routesOf(`
receivers: [{ name: hook, webhook: { url: "https://example.com" }, retry_for: ${retryFor} }]
routes: [{ name: all, receivers: hook }]`);
  const attempts: string[] = [];
  const settled: string[] = [];
  const receiver = {
    send: async (notification: Notification) => {
      const name = nameOf(notification);
      attempts.push(name);
      onSend(notification);
      return answer(name, attempts.filter((attempt) => attempt === name).length);
    },
    close: () => {},
  };
  const lane = new ReceiverLane({
    open: { receiver, settings: receivers[0] },
    handlers: {
      accepted: (key) => settled.push(`accepted ${key}`),
      failed: (key, { reason }) => settled.push(`${reason} ${key}`),
      narrowed: (key, to, refused) =>
        settled.push(`narrowed ${key} to ${to.join()} without ${refused.map(({ address }) => address).join()}`),
      onAttempt: () => {},
    },
    backoff: { initialMs: 1, delayMsMax: 4 },
    nowMs: Date.now,
    random: () => 0,
  });
  lanes.push(lane);
  const add = (key: string, event: Parameters<typeof notificationOf>[0][number], createdAtMs = Date.now()) =>
    lane.add(key, notificationOf([event], { createdAtMs }));
  return { lane, attempts, settled, add };
}

test('what concerns one event is delivered in order, and another event passes it', async () => {
  const { attempts, settled, add } = laneTo((name, attempt) =>
    name === 'opened series-1' && attempt < 4 ? FAILED : ACCEPTED,
  );
  add('a', revisionsOf(1).opened);
  add('b', revisionsOf(1).closed);
  add('c', revisionsOf(2).opened);
  await until('all is settled', () => settled.length === 3, { everyMs: 5 });
  assert.deepEqual(settled, ['accepted c', 'accepted a', 'accepted b']);
  assert.equal(attempts.filter((name) => name === 'closed series-1').length, 1);
});

test('after failures in a row the receiver is asked one at a time, and in full once it answers', async () => {
  let [running, runningMax, isDown] = [0, 0, true];
  const widths: number[] = [];
  const { settled, add } = laneTo(async () => {
    runningMax = Math.max(runningMax, ++running);
    await new Promise((resolve) => setTimeout(resolve, 3));
    widths.push(running--);
    return isDown ? FAILED : ACCEPTED;
  });
  for (let number = 0; number < 20; number++) add(String(number), revisionsOf(number).opened);
  await until('it failed often', () => widths.length > 20, { everyMs: 5 });
  assert.deepEqual(widths.slice(12, 20), new Array(8).fill(1));
  isDown = false;
  await until('all is settled', () => settled.length === 20, { everyMs: 5 });
  assert.equal(runningMax, 4);
});

test('what is refused is settled at once, and what fails for too long expires', async () => {
  const { settled, add, attempts } = laneTo(
    (name) => (name === 'opened series-1' ? { kind: 'refused', reason: 'refused', detail: 'status 404' } : FAILED),
    '1min',
  );
  add('a', revisionsOf(1).opened);
  add('b', revisionsOf(2).opened, Date.now() - 60_001);
  await until('both are settled', () => settled.length === 2, { everyMs: 5 });
  assert.deepEqual(settled.toSorted(), ['expired b', 'refused a']);
  assert.equal(attempts.length, 2);
});

test('Retry-After is waited for', async () => {
  const times: number[] = [];
  const { settled, add } = laneTo((_, attempt) => {
    times.push(Date.now());
    return attempt === 1 ? { kind: 'failed', detail: 'status 429', retryAfterMs: 60 } : ACCEPTED;
  });
  add('a', revisionsOf(1).opened);
  await until('it is accepted', () => settled.length === 1, { everyMs: 5 });
  assert.ok(times[1] - times[0] >= 59);
});

test('an orderly end waits for what runs, and begins nothing more', async () => {
  const { promise, resolve } = Promise.withResolvers<DeliveryOutcome>();
  const { lane, attempts, settled, add } = laneTo(() => promise);
  for (let number = 0; number < 6; number++) add(String(number), revisionsOf(number).opened);
  const drained = lane.drain();
  resolve(ACCEPTED);
  await drained;
  assert.deepEqual([attempts.length, settled.length], [4, 4]);
});

test('a receiver that throws is a receiver that failed', async () => {
  const { settled, add } = laneTo((_, attempt) => {
    if (attempt === 1) throw new TypeError('a bug');
    return ACCEPTED;
  });
  add('a', revisionsOf(1).opened);
  await until('it is accepted', () => settled.length === 1, { everyMs: 5 });
});

test('addresses that may accept a mail later are sent it again, they alone, and do not hold up other mails', async () => {
  const partial = (open: readonly string[], refused: readonly string[]): DeliveryOutcome => ({
    kind: 'partial',
    open,
    refused: refused.map((address) => ({ address, detail: `${address}: 550 no such user` })),
    detail: 'b@example.com: 451 greylisted',
  });
  const sentTo: (readonly string[] | undefined)[] = [];
  const { lane, settled, add } = laneTo(
    (name, attempt) => {
      if (name !== 'opened series-1') return ACCEPTED;
      return [partial(['b', 'd'], ['c']), partial(['b'], ['d']), FAILED, ACCEPTED][attempt - 1];
    },
    '1d',
    ({ to }) => sentTo.push(to),
  );
  add('a', revisionsOf(1).opened);
  add('b', revisionsOf(2).opened);
  await until('both mails are accepted', () => settled.includes('accepted a') && settled.includes('accepted b'));
  const actual = settled.filter((each) => each !== 'accepted b');
  assert.deepEqual(actual, ['narrowed a to b,d without c', 'narrowed a to b without d', 'accepted a']);
  assert.deepEqual(
    sentTo.filter((to) => to !== undefined),
    [['b', 'd'], ['b'], ['b']],
  );
  assert.equal(lane.waiting, 0);
});

test('an address that still answers 4xx after retry_for is a dead letter that names it', async () => {
  const outcome: DeliveryOutcome = { kind: 'partial', open: ['b'], refused: [], detail: 'b: 451 greylisted' };
  const { settled, add } = laneTo(() => outcome, '1m');
  add('a', revisionsOf(1).opened, Date.now() - 60_000);
  await until('the mail expires', () => settled.includes('expired a'));
  assert.deepEqual(settled, ['narrowed a to b without ', 'expired a']);
});
