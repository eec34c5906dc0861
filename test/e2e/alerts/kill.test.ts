/** Nothing is lost over kill -9: neither messages, nor what waits for its time. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ReceivedPost, startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const EVENTS = 120;
const KILLS = 4;

interface Told {
  readonly type: string;
  readonly key: string;
}

/** What a receiver accepted, in its order: each repetition of a message too. */
function toldTo(accepted: readonly ReceivedPost[]): Told[] {
  return accepted.flatMap(({ body }) => {
    const events: readonly { readonly type: string; readonly dedupKey: string }[] = JSON.parse(body).data.events;
    return events.map(({ type, dedupKey }) => ({ type, key: dedupKey }));
  });
}

/** The same without repetitions: what was accepted before a kill -9, and not written yet, is sent again. */
function toldOnce(accepted: readonly ReceivedPost[]): Told[] {
  const ids = accepted.map(({ headers }) => headers['webhook-id']);
  return toldTo(accepted.filter((_, at) => ids.indexOf(ids[at]) === at));
}

kafkaTest(
  'a process that is killed repeatedly sends every event in order, to a receiver that often fails',
  async (t) => {
    const accepted: ReceivedPost[] = [];
    const hook = await startHttpReceiver((response, post) => {
      if (randomInt(5) === 0) response.writeHead(503).end();
      else if (randomInt(10) === 0) response.socket?.destroy();
      else {
        accepted.push(post);
        response.writeHead(200).end();
      }
    });
    const dead = await startHttpReceiver((response) => response.socket?.destroy());
    const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers:
  - { name: hook, webhook: { url: "${hook.url}" } }
  - { name: dead, webhook: { url: "${dead.url}" } }
routes: [{ name: all, receivers: [dead, hook], updates: true }]`);
    const lives = Array.from({ length: EVENTS }, (_, number) => Object.values(revisionsOf(number)));
    const events = [0, 1, 2].flatMap((revision) => lives.map((life) => life[revision]));
    const share = Math.ceil(events.length / KILLS);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = accepted.length;
      const victim = world.start();
      await world.write(events.slice(kill * share, (kill + 1) * share));
      await until('it tells', () => accepted.length > before, { everyMs: 20 });
      await sleep(randomInt(400));
      victim.kill();
      await victim.exitCode;
      t.diagnostic(`killed after ${accepted.length} messages`);
    }
    const last = world.start();
    // Where an acceptance was not written, a message is repeated, and those that follow it.
    await until('every event is told, and its end is told last', () => {
      const lasts = new Map(toldTo(accepted).map(({ key, type }) => [key, type]));
      return lasts.size === EVENTS && [...lasts.values()].every((type) => type === 'closed');
    });
    for (const [key, messages] of Map.groupBy(toldOnce(accepted), (told) => told.key)) {
      const types = messages.map(({ type }) => type);
      assert.deepEqual(types, ['opened', 'updated', 'closed'], key);
    }
    last.terminate();
    assert.equal(await last.exitCode, 0);
  },
);

kafkaTest('groups and cool-downs that wait outlive a kill -9', async () => {
  const hook = await startHttpReceiver();
  const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers:
  - { name: hook, webhook: { url: "${hook.url}" } }
routes:
  - { name: slow, match: { detector: slow }, receivers: hook }
  - { name: cooled, match: { detector: noisy }, receivers: hook, cool_down: 6s }
  - { name: grouped, receivers: hook, group_by: detector, group_wait: 4s }`);
  const first = world.start();
  const noisy = [2, 3].map((number) => revisionsOf(number, { detector: 'noisy', series: 'noisy' }));
  await world.write([
    revisionsOf(1, { detector: 'slow' }).opened,
    noisy[0].opened,
    noisy[0].closed,
    noisy[1].opened,
    revisionsOf(4, { series: 'grouped' }).opened,
    revisionsOf(5, { series: 'grouped' }).opened,
  ]);
  const types = () => toldOnce(hook.posts).map(({ type, key }) => `${type} ${Number.parseInt(key, 16)}`);
  const atOnce = ['closed 2', 'opened 1', 'opened 2'];
  await until('what does not wait is told', () => atOnce.every((type) => types().includes(type)), { everyMs: 20 });
  // What waits is mostly written by then; what is not is read again.
  await sleep(1_000);
  first.kill();
  await first.exitCode;
  const second = world.start();
  await until('everything is told', () => types().length >= 6);
  assert.deepEqual(types().toSorted(), [...atOnce, 'opened 3', 'opened 4', 'opened 5']);
  const grouped = hook.posts.map(({ body }) => JSON.parse(body).data).find(({ route }) => route === 'grouped');
  assert.equal(grouped.events.length, 2);
  second.kill();
  await second.exitCode;
});
