/** Nothing is lost over kill -9: neither messages, nor what waits for its time. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const EVENTS = 120;
const KILLS = 4;

interface Told {
  readonly id: string;
  readonly type: string;
  readonly key: string;
}

/** What a receiver accepted, in its order: each repetition of a message too. */
function toldTo(accepted: readonly { readonly headers: object; readonly body: string }[]): Told[] {
  return accepted.flatMap(({ headers, body }) => {
    const events: readonly { readonly type: string; readonly dedupKey: string }[] = JSON.parse(body).data.events;
    const id = String((headers as Record<string, unknown>)['webhook-id']);
    return events.map(({ type, dedupKey }) => ({ id, type, key: dedupKey }));
  });
}

kafkaTest(
  'a process that is killed repeatedly tells every event in order, to a receiver that often fails',
  async (t) => {
    const accepted: { readonly headers: object; readonly body: string }[] = [];
    const hook = await startHttpReceiver((response, post) => {
      if (randomInt(5) === 0) response.writeHead(503).end();
      else if (randomInt(10) === 0) response.socket?.destroy();
      else {
        accepted.push(post);
        response.writeHead(200).end();
      }
    });
    const dead = await startHttpReceiver();
    await dead.close();
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
    const told = () => new Set(toldTo(accepted).map(({ key, type }) => `${key} ${type}`)).size;
    await until('everything is told', () => told() === 3 * EVENTS);
    const byEvent = Map.groupBy(toldTo(accepted), ({ key }) => key);
    for (const [key, messages] of byEvent) {
      const first = messages.filter(({ id }, at) => messages.findIndex((message) => message.id === id) === at);
      assert.deepEqual(
        first.map(({ type }) => type),
        ['opened', 'updated', 'closed'],
        key,
      );
      assert.equal(messages.at(-1)?.type, 'closed', key);
    }
    last.terminate();
    assert.equal(await last.exitCode, 0);
  },
);

kafkaTest('groups, cool-downs and escalations that wait outlive a kill -9', async () => {
  const [hook, boss] = [await startHttpReceiver(), await startHttpReceiver()];
  const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers:
  - { name: hook, webhook: { url: "${hook.url}" } }
  - { name: boss, webhook: { url: "${boss.url}" } }
routes:
  - { name: escalated, match: { detector: slow }, receivers: hook, escalate: [{ after: 6s, receivers: boss }] }
  - { name: cooled, match: { detector: noisy }, receivers: hook, cool_down: 6s }
  - { name: grouped, receivers: hook, group_by: detector, group_wait: 4s }`);
  const first = world.start();
  const noisy = [2, 3].map((number) => revisionsOf(number, { detector: 'noisy', series: 'noisy' }));
  await world.write([
    revisionsOf(1, { detector: 'slow' }).opened,
    noisy[0].opened,
    noisy[0].closed,
    noisy[1].opened,
    revisionsOf(4).opened,
    revisionsOf(5).opened,
  ]);
  const types = () => toldTo(hook.posts).map(({ type, key }) => `${type} ${Number.parseInt(key, 16)}`);
  await until('what does not wait is told', () => types().length === 3, { everyMs: 20 });
  assert.deepEqual(types().toSorted(), ['closed 2', 'opened 1', 'opened 2']);
  // Acceptances are written after a while.
  await sleep(1_000);
  first.kill();
  await first.exitCode;
  const second = world.start();
  await until('everything is told', () => types().length === 6 && boss.posts.length === 1);
  assert.deepEqual(types().toSorted(), ['closed 2', 'opened 1', 'opened 2', 'opened 3', 'opened 4', 'opened 5']);
  const grouped = hook.posts.map(({ body }) => JSON.parse(body).data).find(({ route }) => route === 'grouped');
  assert.equal(grouped.events.length, 2);
  assert.equal(JSON.parse(boss.posts[0].body).data.escalatedAfterMinutes, 0);
  second.kill();
  await second.exitCode;
});
