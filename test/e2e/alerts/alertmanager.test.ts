/** A real Alertmanager: any on the path, or Debian's package. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../../src/local-kafka/free-port.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { noticeOf, notificationOf, revisionsOf } from '../../fixture/alerts/notification.ts';
import { receiverOf } from '../../fixture/alerts/open-receiver.ts';
import { debianProgram } from '../../fixture/debian-program.ts';
import { until } from '../../fixture/until.ts';

const found = await debianProgram('prometheus-alertmanager', ['prometheus-alertmanager', 'alertmanager']);

interface GotAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: { readonly state: string };
}

interface Notified {
  readonly status: 'firing' | 'resolved';
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[];
}

/** Starts one that sends to a webhook of ours; it ends with the test. */
async function startAlertmanager(t: TestContext) {
  if (found.kind === 'none') throw new Error(found.why);
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-alertmanager-'));
  const hook = await startHttpReceiver();
  const config = join(folder, 'config.yml');
  await writeFile(
    config,
    `route: { receiver: hook, group_by: [event_id], group_wait: 0s, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: hook, webhook_configs: [{ url: "${hook.url}", send_resolved: true }] }]`,
  );
  const url = `http://127.0.0.1:${await freePort()}`;
  const [program, ...before] = found.command;
  const child = spawn(
    program,
    [
      ...before,
      `--config.file=${config}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  await until('it is ready', async () => (await fetch(`${url}/-/ready`)).ok);
  const alerts = async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as GotAlert[];
  const notified = () => hook.posts.map(({ body }) => JSON.parse(body) as Notified);
  return { url, alerts, notified };
}

const isHere = found.kind === 'program';
const law = 'Alertmanager shows an event while it is open, notifies once, and resolves it when it closes';

test(isHere ? law : `${law} (skipped: ${found.why})`, {
  skip: isHere ? false : found.why,
}, async (t) => {
  const { url, alerts, notified } = await startAlertmanager(t);
  const { send } = receiverOf(`alertmanager: { url: "${url}" }`);
  const { opened, updated, closed } = revisionsOf(1, {
    labels: { team: 'shop', 'k8s.io/app': 'cart' },
    series: 'web-1/<b>"latency"\n',
  });
  assert.deepEqual(await send(notificationOf([opened])), { kind: 'accepted' });
  await until('it is notified', () => notified().length === 1);
  const [{ labels, annotations, status }] = await alerts();
  assert.equal(status.state, 'active');
  assert.deepEqual(labels, {
    alertname: 'Anomaly',
    detector: 'cpu',
    series: 'web-1/<b>"latency"',
    kind: 'spike',
    severity: 'warning',
    event_id: opened.eventId,
    team: 'shop',
    k8s_io_app: 'cart',
  });
  assert.match(annotations.summary, /99 where 42 was expected/);
  // Told again, and as what it turned out to be: still one alert.
  const { opening } = noticeOf(opened);
  const later = { type: 'updated', event: { ...updated, kind: 'level_shift', grade: 0.99 }, opening } as const;
  assert.deepEqual(await send(notificationOf([updated], { notices: [later] })), { kind: 'accepted' });
  assert.equal((await alerts()).length, 1);
  assert.deepEqual(await send(notificationOf([closed])), { kind: 'accepted' });
  await until('it is resolved', () => notified().some((message) => message.status === 'resolved'));
  assert.deepEqual(await alerts(), []);
  assert.deepEqual(
    notified().map((message) => message.status),
    ['firing', 'resolved'],
  );
});
