/** Nothing is lost over kill -9: neither messages, nor what waits for its time, nor what was refused. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { type ReceivedPost, startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

/** Each is three messages, of which a fourth is refused, and a refusal stops the receiver for half a second or more. */
const EVENTS = 40;
const KILLS = 4;
/** Of one message. */
const REFUSALS_MAX = 2;

interface Sent {
  readonly type: string;
  readonly key: string;
}

/** What a receiver accepted, in its order: each repetition of a message too. */
function sentTo(accepted: readonly ReceivedPost[]): Sent[] {
  return accepted.flatMap(({ body }) => {
    const events: readonly { readonly type: string; readonly dedupKey: string }[] = JSON.parse(body).data.events;
    return events.map(({ type, dedupKey }) => ({ type, key: dedupKey }));
  });
}

/** The same without repetitions: what was accepted before a kill -9, and not written yet, is sent again. */
function sentOnce(accepted: readonly ReceivedPost[]): Sent[] {
  const ids = accepted.map(({ headers }) => headers['webhook-id']);
  return sentTo(accepted.filter((_, at) => ids.indexOf(ids[at]) === at));
}

kafkaTest('a process that is killed repeatedly sends each event in order, though its receiver fails', async (t) => {
  const accepted: ReceivedPost[] = [];
  const refusals = new Map<unknown, number>();
  const hook = await startHttpReceiver((response, post) => {
    const id = post.headers['webhook-id'];
    const refused = refusals.get(id) ?? 0;
    // Pauses between attempts double: a message that is refused again and again would be waited for for minutes.
    if (refused < REFUSALS_MAX && randomInt(4) === 0) {
      refusals.set(id, refused + 1);
      if (randomInt(3) === 0) response.socket?.destroy();
      else response.writeHead(503).end();
    } else {
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
    await until('it sends', () => accepted.length > before, { everyMs: 20 });
    await sleep(randomInt(400));
    victim.kill();
    await victim.exitCode;
    t.diagnostic(`killed after ${accepted.length} messages`);
  }
  const last = world.start();
  // Where an acceptance was not written, a message is repeated, and those that follow it.
  await until('every event is sent, and its end is sent last', () => {
    const lasts = new Map(sentTo(accepted).map(({ key, type }) => [key, type]));
    return lasts.size === EVENTS && [...lasts.values()].every((type) => type === 'closed');
  });
  for (const [key, messages] of Map.groupBy(sentOnce(accepted), (sent) => sent.key)) {
    const types = messages.map(({ type }) => type);
    assert.deepEqual(types, ['opened', 'updated', 'closed'], key);
  }
  last.terminate();
  assert.equal(await last.exitCode, 0);
});

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
  const types = () => sentOnce(hook.posts).map(({ type, key }) => `${type} ${Number.parseInt(key, 16)}`);
  const atOnce = ['closed 2', 'opened 1', 'opened 2'];
  await until('what does not wait is sent', () => atOnce.every((type) => types().includes(type)), { everyMs: 20 });
  // What waits is mostly written by then; what is not is read again.
  await sleep(1_000);
  first.kill();
  await first.exitCode;
  const second = world.start();
  await until('everything is sent', () => types().length >= 6);
  assert.deepEqual(types().toSorted(), [...atOnce, 'opened 3', 'opened 4', 'opened 5']);
  const grouped = hook.posts.map(({ body }) => JSON.parse(body).data).find(({ route }) => route === 'grouped');
  assert.equal(grouped.events.length, 2);
  second.kill();
  await second.exitCode;
});

kafkaTest('the demo with a routes file sends its events, and ends at Ctrl-C', async (t) => {
  const hook = await startHttpReceiver();
  const folder = freshFolder();
  const routes = join(folder, 'alerts.yaml');
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`,
  );
  const XDG_CACHE_HOME = dirname(cacheFolder());
  const env = { XDG_CACHE_HOME, DATA_DIR: join(folder, 'data'), OPS_PORT: '0', HTTP_PORT: '0' };
  const startMs = performance.now();
  const demo = startCommand(['start', '--routes', routes], env);
  await until('an event is sent', () => hook.posts.length > 0);
  const { type, data } = JSON.parse(hook.posts[0].body);
  const seconds = (performance.now() - startMs) / 1_000;
  t.diagnostic(`${seconds.toFixed(1)} s from the start to the first event at a webhook: ${data.title}`);
  demo.interrupt();
  assert.deepEqual([type, await demo.exitCode, demo.err], ['anomaly.opened', 0, []]);
});

kafkaTest('what is refused is listed, outlives the process, and is sent again on demand if it holds', async () => {
  let isBroken = true;
  const hook = await startHttpReceiver((response) => response.writeHead(isBroken ? 404 : 200).end('no such hook'));
  const env = { HOOK: `${hook.url}/T0PSECRET`, OPS_PORT: '0' };
  const world = await alertsWorld(
    `
allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url_env: HOOK } }]
routes: [{ name: all, receivers: hook }]`,
    env,
  );
  const [open, over] = [revisionsOf(1, { series: 'still\u001b[31m open' }), revisionsOf(2)];
  const first = world.start();
  await world.write([open.opened, over.opened, over.closed]);
  await until('all are refused', async () => (await world.deadLetters()).length === 3);
  first.kill();
  await first.exitCode;

  const lines = await world.deadLetters();
  assert.equal(lines.length, 3);
  assert.match(
    lines.join('\n'),
    /hook {2}all {2}opened still \[31m open {2}refused: status 404: no such hook {2}[0-9a-f]{32}/,
  );
  assert.match(lines.join('\n'), /closed series-2/);
  assert.doesNotMatch([...lines, ...first.out, ...first.err].join('\n'), /T0PSECRET/);

  isBroken = false;
  const refused = hook.posts.length;
  const second = world.start('--redeliver');
  await until('they are sent again', () => hook.posts.length === refused + 2);
  const said = hook.posts.slice(refused).map(({ body }) => JSON.parse(body).data.events[0]);
  assert.deepEqual(said.map(({ type }) => type).toSorted(), ['closed', 'opened']);
  assert.equal(said.find(({ type }) => type === 'opened').dedupKey, open.opened.eventId);
  await until('nothing is left', async () => (await world.deadLetters()).length === 0);
  second.terminate();
  assert.equal(await second.exitCode, 0);
});

kafkaTest('of two processes one sends, and the other takes over', async () => {
  const hook = await startHttpReceiver();
  const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`);
  const both = [world.start(), world.start()];
  const sends = (command: (typeof both)[number]) =>
    command.out.findLast((line) => /(?:this|another) process sends/.test(line))?.includes('this process') ?? false;
  await until('both take part', () => both.filter(sends).length === 1 && both.every(({ out }) => out.length > 2));
  await world.write([revisionsOf(1).opened]);
  await until('one has sent', () => hook.posts.length > 0);
  const [owner, standby] = sends(both[0]) ? both : both.toReversed();
  owner.kill();
  await owner.exitCode;
  await world.write([revisionsOf(1).closed]);
  // What was accepted and not written yet is sent again, under the same id.
  const said = () => new Map(hook.posts.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body).type]));
  await until('the other has sent', () => said().size === 2);
  assert.deepEqual([...said().values()], ['anomaly.opened', 'anomaly.closed']);
  standby.terminate();
  assert.equal(await standby.exitCode, 0);
});
