/** Every expression of the dashboards and rules, evaluated by a real Prometheus over all services. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { listening } from '../../fixture/http/listening.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { serve } from '../../fixture/http/served.ts';
import { kafkaConnection, whyWithoutKafka } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { alertRules, dashboards } from '../../fixture/monitoring.ts';
import { until } from '../../fixture/until.ts';

const reason = whyWithoutKafka ?? whyNoPrometheus;
const suffix = reason === null ? '' : ` (skipped: ${reason})`;
const RULES = fileURLToPath(new URL('../../../deploy/monitoring/rules.yaml', import.meta.url));
const KEY = 'a-key-of-the-tests-and-of-nobody-else';
const STEP_MS = 1_000;
const STEPS = 150;
const DETECTOR =
  '{ name: load, series: "node_*", freq: s, h: 4, detection_size: 4, context: 32, calibration_size: 64, gap_limit: 4, idle_limit: 1h }';
const SERIES = 'node_load1{instance="a:9100",job="node"}';

const valueAt = (step: number) => 10 + Math.sin(step) + ((step * 7) % 3) + (step >= STEPS - 4 ? 60 : 0);

/** A history of a series until now that ends in an incident, and records that no detector takes, or too late. */
function records() {
  const nowMs = Math.floor(Date.now() / STEP_MS) * STEP_MS;
  const record = (series: string, step: number, value: number) => ({
    partition: 0,
    key: Buffer.from(series),
    value: Buffer.from(JSON.stringify({ series, timestamp: nowMs - (STEPS - step) * STEP_MS, value })),
  });
  const watched = Array.from({ length: STEPS }, (_, step) => record(SERIES, step, valueAt(step)));
  const unwatched = Array.from({ length: 40 }, (_, step) => record('disk', step, 1));
  return [...watched, ...unwatched, record(SERIES, 20, 1)];
}

/** What answers at a port of this machine as node exporters do. */
async function exporter(): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE node_load1 gauge\nnode_load1 ${valueAt(0)}\n`);
  });
  return `127.0.0.1:${await listening(server)}`;
}

/** All services of one stream; what they expose, as host:port. */
async function services(t: TestContext, prometheusUrl: string) {
  const stream = await kafkaStream(1, [DETECTOR]);
  const folder = freshFolder();
  const [DETECTORS, POLLED, ROUTES] = ['detectors.yaml', 'polled.yaml', 'routes.yaml'].map((name) =>
    join(folder, name),
  );
  const hook = await startHttpReceiver();
  await writeFile(DETECTORS, stream.detectors);
  await writeFile(
    ROUTES,
    `state_topic: state-${stream.topics.events}
allow_private: [127.0.0.1]
receivers: [{ name: mine, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: mine }]`,
  );
  const brokers = (await kafkaConnection()).config.brokers.join();
  const env = { KAFKA_BROKERS: brokers, KAFKA_GROUP_ID: stream.groupId, DETECTORS, OPS_PORT: '0', HTTP_PORT: '0' };
  const own = { ...env, KAFKA_SESSION_MS: '1500', INFERENCE_THREADS: '1', TIDEWATCH_API_KEY: KEY };
  const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const command = startCommand(args, { ...own, ...more });
    t.after(() => command.kill());
    return command;
  };
  const worker = start(['worker']);
  const alerts = start(['alerts', '--from-beginning', '--routes', ROUTES]);
  const bands = start(['remote-write', '--from-beginning'], { REMOTE_WRITE_URL: `${prometheusUrl}/api/v1/write` });
  const receive = start(['receive'], { GRPC_PORT: '0' });
  const source = `source: { prometheus: "${prometheusUrl}", query: vector(1), step: 1s, history: 1min, delay: 1s }\n`;
  await writeFile(POLLED, source + stream.detectors);
  const poll = start(['poll'], { DETECTORS: POLLED });
  const served = await serve({ ...own, SCORES_PORT: '0', SCORES_SERIES: '*' });
  t.after(() => served.command.kill());
  await stream.feed(records());
  const received = await receive.logged('receiving');
  await postSome(served.url, received.url);
  const ops = [
    (await worker.logged('the operators port is open')).url,
    (await alerts.logged('the operators port is open')).url,
    (await bands.logged('bands are written')).ops,
    (await poll.logged('polling')).ops,
  ];
  const hosts = [...ops, received.ops, served.ops].map((url) => new URL(url).host);
  return { hosts, scores: new URL(served.scores!).host, hook, stream };
}

/** A call that costs tokens, and a point. */
async function postSome(url: string, receiver: string): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const series = { y: Array.from({ length: 60 }, (_, i) => i % 7), sizes: [60] };
  const body = JSON.stringify({ series, model: 'mean', freq: 'D', h: 3, detection_size: 3 });
  const called = await fetch(`${url}/v2/online_anomaly_detection`, { method: 'POST', headers, body });
  assert.equal(called.status, 200);
  const line = JSON.stringify({ series: 'node_other', timestamp: Date.now(), value: 1 });
  const received = await fetch(`${receiver}/v1/observations`, { method: 'POST', headers, body: line });
  assert.equal(received.status, 200);
}

/** The expressions of the dashboards with values for their variables, and what the rules compare. */
function expressions(): readonly (readonly [place: string, expression: string])[] {
  const filled = (expr: string, bands: string) =>
    expr
      .replaceAll('$metric', 'node_load1')
      .replaceAll('$bands', bands)
      .replaceAll('$__rate_interval', '1m')
      .replaceAll(/\$(job|instance)/g, '.+');
  const shown = dashboards().flatMap(({ file, panels }) =>
    panels.flatMap(({ title, targets }) =>
      targets.flatMap(({ expr }) =>
        [...new Set(['event', '.{0}'].map((bands) => filled(expr, bands)))].map(
          (each) => [`${file}: ${title}`, each] as const,
        ),
      ),
    ),
  );
  const compared = alertRules().map(({ alert, expr }) => {
    const [, left] =
      /^(.+) (?:>|==) [\d.]+$/.exec(expr) ?? assert.fail(`${alert}: a rule ends with what it compares with`);
    return [alert, left] as const;
  });
  return [...shown, ...compared];
}

test(`each expression of dashboards and rules has samples over live services${suffix}`, {
  skip: reason !== null,
  timeout: 600_000,
}, async (t) => {
  const address = `127.0.0.1:${await freePort()}`;
  const { hosts, scores, hook, stream } = await services(t, `http://${address}`);
  const { samples, url } = await startPrometheus(
    t,
    // A scrape may take as long as its interval, also on a busy machine.
    `global: { scrape_interval: 4s, evaluation_interval: 2s }
rule_files: [${RULES}]
scrape_configs:
  - { job_name: tidewatch, static_configs: [{ targets: ${JSON.stringify(hosts)} }] }
  - { job_name: tidewatch-scores, honor_labels: true, static_configs: [{ targets: [${scores}] }] }
  - { job_name: node, static_configs: [{ targets: [${await exporter()}] }] }
`,
    { address, flags: ['--web.enable-remote-write-receiver'] },
  );
  await until('the incident is an event', async () => (await stream.events()).length > 0);
  await until('the event is sent', () => hook.posts.length > 0);
  let left = expressions();
  await until('every expression has had samples', async () => {
    const found = await Promise.all(left.map(async ([, expression]) => (await samples(expression)).length));
    left = left.filter((_, i) => found[i] === 0);
    return left.length === 0;
  }).catch(() => {});
  assert.deepEqual(left, []);
  await until('the rule of the event fires, and no other', async () => {
    const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as {
      data: { groups: readonly { rules: readonly { name: string; health: string; state: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    const firing = rules.filter(({ state }) => state === 'firing').map(({ name }) => name);
    return rules.every(({ health }) => health === 'ok') && firing.join() === 'TidewatchOpenEvent';
  });
});
