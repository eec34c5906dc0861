import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { reportAlerts } from '../../../src/alerts/alert-reports.ts';
import type { AlertRunOptions } from '../../../src/alerts/alert-run.ts';
import { type AlertService, startAlertService } from '../../../src/alerts/alert-service.ts';
import type { SettledNotification } from '../../../src/alerts/state/outbox.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { collectAlerts, createMetrics } from '../../../src/ops/metrics.ts';
import { BEHAVIOURS, startHostileReceiver } from '../../fixture/alerts/hostile-receiver.ts';
import { type HttpReceiver, startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { routesOf } from '../../fixture/alerts/routes.ts';
import { MemorySingletonLog } from '../../fixture/memory-singleton-log.ts';
import { until } from '../../fixture/until.ts';

const services: AlertService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

const QUICKLY = { everyMs: 5 };

/** A service whose clock can be put forward. */
async function serviceTo(receivers: string, route: string, more: Partial<AlertRunOptions> = {}) {
  const log = new MemorySingletonLog();
  const clock = { aheadMs: 0 };
  const metrics = createMetrics({ collectProcess: false });
  const service = await startAlertService({
    log,
    readIncidents: log.readIncidents,
    routes: routesOf(`allow_private: [127.0.0.1]\nreceivers: [${receivers}]\nroutes: [{ name: all, ${route} }]`),
    reports: reportAlerts(metrics, createLogger('silent')),
    nowMs: () => Date.now() + clock.aheadMs,
    random: () => 0,
    redeliver: false,
    mutes: null,
    keepSent: null,
    backoff: { initialMs: 1, delayMsMax: 5 },
    ...more,
  });
  services.push(service);
  collectAlerts(metrics, () => service.figures());
  return { log, clock, service, metrics };
}

const saidTo = ({ posts }: HttpReceiver) =>
  posts.flatMap(({ body }) => {
    const { events } = JSON.parse(body).data as { events: { type: string; series: string }[] };
    return events.map(({ type, series }) => `${type} ${series}`);
  });

test('what is decided is sent only once it is written, and a failed write loses nothing', async () => {
  const hook = await startHttpReceiver();
  const { log } = await serviceTo(`{ name: hook, webhook: { url: "${hook.url}" } }`, 'receivers: hook');
  log.failures = 1;
  log.write(revisionsOf(1).opened);
  await until('it is sent', () => hook.posts.length > 0, QUICKLY);
  log.write(revisionsOf(1).closed);
  await until('its end is sent', () => hook.posts.length > 1, QUICKLY);
  assert.deepEqual(saidTo(hook), ['opened series-1', 'closed series-1']);
  await until('nothing is left', () => [...log.kept.keys()].every((key) => !key.startsWith('queued/')), QUICKLY);
});

test('a receiver that is dead holds up no other one, and the figures show it', async () => {
  const [hook, dead] = [await startHttpReceiver(), await startHttpReceiver()];
  await dead.close();
  const { log, metrics } = await serviceTo(
    `{ name: dead, webhook: { url: "${dead.url}" } }, { name: hook, webhook: { url: "${hook.url}" } }`,
    'receivers: [dead, hook]',
  );
  for (let number = 0; number < 20; number++) log.write(revisionsOf(number).opened);
  // A message whose answer comes late on a busy machine is sent twice.
  await until('the other has all', () => new Set(saidTo(hook)).size === 20, QUICKLY);
  let text = '';
  await until(
    'all are counted',
    async () => {
      text = await metrics.registry.metrics();
      return /receiver="hook",outcome="accepted"\} 20$/m.test(text);
    },
    QUICKLY,
  );
  assert.match(text, /^tidewatch_alert_queue_notifications\{receiver="dead"\} 20$/m);
  assert.match(text, /^tidewatch_alert_deliveries_total\{receiver="dead",outcome="failed"\} \d+$/m);
  assert.match(text, /^tidewatch_alert_events_total\{type="opened"\} 20$/m);
  assert.match(text, /^tidewatch_alerts_open 20$/m);
});

test('an orderly end waits for an acceptance, so that nothing is sent twice', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const hook = await startHttpReceiver((response) => void released.then(() => response.end()));
  const { log, service } = await serviceTo(`{ name: hook, webhook: { url: "${hook.url}" } }`, 'receivers: hook');
  log.write(revisionsOf(1).opened);
  await until('it is being sent', () => hook.posts.length === 1, QUICKLY);
  const stopped = service.stop();
  release();
  await stopped;
  const waiting = [...log.kept.keys()].filter((key) => key.startsWith('queued/'));
  assert.deepEqual(waiting, []);
});

test('whoever loses the state stops, and whoever gets it continues', async () => {
  const hook = await startHttpReceiver();
  const { log } = await serviceTo(`{ name: hook, webhook: { url: "${hook.url}" } }`, 'receivers: hook');
  log.write(revisionsOf(1).opened);
  const isQueued = () => [...log.kept.keys()].some((key) => key.startsWith('queued/'));
  await until('it is sent, and that is written', () => hook.posts.length === 1 && !isQueued(), QUICKLY);
  log.elect(false);
  log.write(revisionsOf(2).opened);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(hook.posts.length, 1);
  log.elect(true);
  await until('the next is sent', () => hook.posts.length === 2, QUICKLY);
  assert.deepEqual(saidTo(hook), ['opened series-1', 'opened series-2']);
});

test('what people have muted before the start is not sent, and is sent once the mute has ended', async () => {
  const hook = await startHttpReceiver();
  const muted = { match: 'series-1', detector: null, untilMs: Number.MAX_SAFE_INTEGER };
  let holding = [muted];
  let isAway = false;
  const mutes = async () => {
    if (isAway) throw new Error('the store is away');
    return holding;
  };
  const to = `{ name: hook, webhook: { url: "${hook.url}" } }`;
  const { log, clock } = await serviceTo(to, 'receivers: hook', { mutes });
  log.write(revisionsOf(1).opened, revisionsOf(2).opened);
  await until('the other one is sent', () => hook.posts.length === 1, QUICKLY);
  [isAway, holding] = [true, []];
  clock.aheadMs += 3_000;
  log.write(revisionsOf(3).opened);
  await until('the third is sent', () => hook.posts.length === 2, QUICKLY);
  isAway = false;
  clock.aheadMs += 3_000;
  await until('the first is sent', () => hook.posts.length === 3, QUICKLY);
  assert.deepEqual(saidTo(hook), ['opened series-2', 'opened series-3', 'opened series-1']);
});

test('what was sent and what was given up is kept for looking at; where it cannot be, all is sent as ever', async () => {
  const [hook, gone] = [
    await startHttpReceiver(),
    await startHttpReceiver((response) => response.writeHead(404).end()),
  ];
  const kept: string[] = [];
  let isAway = true;
  const keepSent = async (settled: readonly SettledNotification[]) => {
    if (isAway) throw new Error('the store is away');
    kept.push(...settled.map(({ notification, death }) => `${notification.receiver} ${death?.reason ?? 'accepted'}`));
  };
  const { log } = await serviceTo(
    `{ name: hook, webhook: { url: "${hook.url}" } }, { name: gone, webhook: { url: "${gone.url}" } }`,
    'receivers: [hook, gone]',
    { keepSent },
  );
  log.write(revisionsOf(1).opened);
  await until('both were sent', () => hook.posts.length + gone.posts.length === 2, QUICKLY);
  const isSettled = () => [...log.kept.keys()].every((key) => !key.startsWith('queued/'));
  await until('that is written', isSettled, QUICKLY);
  isAway = false;
  log.write(revisionsOf(2).opened);
  await until('both outcomes are kept', () => kept.length >= 2, QUICKLY);
  assert.deepEqual([...new Set(kept)].sort(), ['gone refused', 'hook accepted']);
});

test('open alerts and recent ends are repeated every minute to Alertmanager', async () => {
  const manager = await startHttpReceiver((response) => response.end());
  const { log, clock } = await serviceTo(`{ name: am, alertmanager: { url: "${manager.url}" } }`, 'receivers: am');
  log.write(revisionsOf(1).opened, revisionsOf(2).opened, revisionsOf(2).closed);
  await until('it is sent', () => manager.posts.length === 3, QUICKLY);
  clock.aheadMs = 61_000;
  await until('it is reminded', () => manager.posts.length === 5, QUICKLY);
  const posted = manager.posts.map(({ body }) => JSON.parse(body)[0]);
  const series = posted.map(({ labels }) => labels.series).join();
  assert.equal(series, 'series-1,series-2,series-2,series-1,series-2');
  assert.equal(posted[4].endsAt, posted[2].endsAt);
});

test('a receiver that fails in every way by turns gets everything in the end, and others at once', async () => {
  const turns = Object.values(BEHAVIOURS);
  let turn = 0;
  const [hook, hostile] = [await startHttpReceiver(), await startHostileReceiver(() => turns[turn++ % turns.length])];
  const { log } = await serviceTo(
    `{ name: hostile, webhook: { url: "${hostile.url}" }, timeout: 100ms }, { name: hook, webhook: { url: "${hook.url}" } }`,
    'receivers: [hostile, hook]',
  );
  for (let number = 0; number < 10; number++) log.write(revisionsOf(number).opened, revisionsOf(number).closed);
  await until('the other has all', () => hook.posts.length === 20, QUICKLY);
  const left = () => [...log.kept.keys()].filter((key) => key.startsWith('queued/')).length;
  await until('nothing is left', () => left() === 0, { everyMs: 20 });
  const dead = [...log.kept.keys()].filter((key) => key.startsWith('dead-letter/'));
  assert.deepEqual(dead, []);
});

test('a state that a newer version wrote ends the service, and stays as it is', async () => {
  const log = new MemorySingletonLog();
  log.kept.set('format', '99');
  const { service } = await serviceTo('{ name: hook, webhook: { url: "http://127.0.0.1:9" } }', 'receivers: hook', {
    log,
    readIncidents: log.readIncidents,
  });
  const failure = await service.finished;
  assert.match(
    String(failure?.message),
    /^the state of the alerts has format 99, and this version reads formats 1 to 3/,
  );
  assert.deepEqual([...log.kept], [['format', '99']]);
});
