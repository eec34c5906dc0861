/** The command `receive` on a real Kafka, with the clients that write to it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { InfluxDB, Point } from '@influxdata/influxdb-client';
import { EXPORT_PATH } from '../../../../src/api/grpc/otlp-server.ts';
import { readTail } from '../../../../src/kafka/fetch/topic-tail.ts';
import { runCommand, startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { exampleVariables } from '../../../fixture/http/example-variables.ts';
import { listening } from '../../../fixture/http/listening.ts';
import { startPrometheus, whyNoPrometheus } from '../../../fixture/http/prometheus.ts';
import { freshTopics, kafkaConnection, kafkaTest, ownKafka, whyWithoutKafka } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../../fixture/kafka/kafka-stream.ts';
import { emittedOtlp, snappyBlock, writeRequest } from '../../../fixture/stream/emitted-metrics.ts';
import { until } from '../../../fixture/until.ts';

const broker = ownKafka();

const KEY = 'the-key-of-every-sender-here';
const AUTHORIZED = { authorization: `Bearer ${KEY}` };
const PARTITIONS = 2;

interface Observation {
  readonly series: string;
  readonly timestamp: number;
  readonly value: number;
}

/** The command on topics of its own. */
async function receiver(t: TestContext, detectors: readonly string[] = []) {
  const topics = await freshTopics(PARTITIONS);
  const connection = await kafkaConnection();
  const file = join(freshFolder(), 'detectors.yaml');
  const entries = detectors.length > 0 ? detectors : ['{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }'];
  await writeFile(file, detectorsFile(topics, entries));
  const command = startCommand(['receive'], {
    KAFKA_BROKERS: connection.config.brokers.join(),
    DETECTORS: file,
    TIDEWATCH_API_KEY: KEY,
    HTTP_PORT: '0',
    GRPC_PORT: '0',
    OPS_PORT: '0',
    DRAIN_MS: '0',
  });
  t.after(() => command.kill());
  const { url, grpc, ops } = await command.logged('receiving');
  const observations = async (): Promise<readonly (Observation & { key: string })[]> => {
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const tails = partitions.map((partition) =>
      readTail(connection, { topic: topics.observations, partition, recordsMax: 100_000 }),
    );
    return (await Promise.all(tails)).flat().map(({ key, value }) => {
      return { ...(JSON.parse(String(value)) as Observation), key: String(key) };
    });
  };
  return { url, grpc, ops, command, observations, topics, file };
}

kafkaTest('what OpenTelemetry and Influx clients write is in Kafka once it is answered', async (t) => {
  const { url, ops, observations, command } = await receiver(t);
  const headers = { ...AUTHORIZED, 'content-type': 'application/x-protobuf' };
  const body = await emittedOtlp('protobuf', 'cumulative');
  const answer = await fetch(`${url}/v1/metrics`, { method: 'POST', headers, body: Buffer.from(body) });
  assert.equal(answer.status, 200);
  const metrics = await observations();
  assert.deepEqual(metrics.map(({ series, value, key }) => [series, value, key === series]).sort(), [
    ['http.requests{instance="a:1",job="shop",otel_scope_name="test",route="/a"}', 7, true],
    ['http.seconds_count{instance="a:1",job="shop",otel_scope_name="test",route="/a"}', 3, true],
    ['http.seconds_sum{instance="a:1",job="shop",otel_scope_name="test",route="/a"}', 33, true],
    ['queue.fill{instance="a:1",job="shop",otel_scope_name="test"}', 0.5, true],
  ]);
  const client = new InfluxDB({ url, token: KEY }).getWriteApi('any', 'any', 'ms');
  const now = Date.now();
  for (let i = 0; i < 5_000; i++)
    client.writePoint(
      new Point('load')
        .tag('host', `h${i % 50}`)
        .floatField('user', i)
        .timestamp(now),
    );
  await client.close();
  // It writes again what was not answered in time.
  const loads = async () =>
    new Set((await observations()).flatMap(({ series, value }) => (series.startsWith('load') ? [value] : [])));
  await until('the client has written all', async () => (await loads()).size === 5_000);
  await until('they are counted', async () => {
    const figures = await (await fetch(`${ops}/metrics`)).text();
    return /tidewatch_points_received_total\{format="line-protocol",outcome="accepted"\} [5-9]\d{3}/.test(figures);
  });
  command.terminate();
  assert.equal(await command.exitCode, 0);
});

kafkaTest('a call over gRPC is in Kafka once it is answered; its connection does not delay the end', async (t) => {
  const { grpc, ops, observations, command, topics } = await receiver(t);
  const client = new Client(grpc, credentials.createInsecure());
  t.after(() => client.close());
  const metadata = new Metadata();
  metadata.set('authorization', AUTHORIZED.authorization);
  const asIs = (bytes: Buffer) => bytes;
  const body = Buffer.from(await emittedOtlp('protobuf', 'cumulative'));
  await new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest(EXPORT_PATH, asIs, asIs, body, metadata, (error) => (error ? reject(error) : resolve()));
  });
  assert.equal((await observations()).length, 4);
  await until('it is counted', async () => {
    const figures = await (await fetch(`${ops}/metrics`)).text();
    return /tidewatch_http_requests_total\{route="[^"]*MetricsService\/Export",status="200"\} 1/.test(figures);
  });

  // A second one on its port names the setting.
  const { config } = await kafkaConnection();
  const detectors = join(freshFolder(), 'detectors.yaml');
  await writeFile(detectors, detectorsFile(topics, ['{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }']));
  const env = { KAFKA_BROKERS: config.brokers.join(), DETECTORS: detectors, TIDEWATCH_API_KEY: KEY };
  const port = grpc.slice(grpc.lastIndexOf(':') + 1);
  const data = { DATA_DIR: freshFolder(), HTTP_PORT: '0', OPS_PORT: '0', GRPC_PORT: port };
  const { exitCode, err, out } = await runCommand(['receive'], { ...env, ...data });
  assert.equal(exitCode, 2);
  assert.match([...err, ...out].join('\n'), new RegExp(`127.0.0.1:${port} cannot be listened on .*GRPC_PORT`));

  command.terminate();
  assert.equal(await command.exitCode, 0);
});

kafkaTest('points that no detector watches are left out until one does; unknown keys get nothing', async (t) => {
  const { url, observations, topics, file } = await receiver(t, [
    '{ name: web, series: "web*", freq: min, h: 4, detection_size: 4 }',
  ]);
  const post = (body: string, headers: Record<string, string> = AUTHORIZED) =>
    fetch(`${url}/v1/observations`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body,
    });
  const line = (series: string) => JSON.stringify({ series, timestamp: Date.now(), value: 1 });
  assert.equal((await post(line('web-1'), {})).status, 401);
  const answer = await post([line('web-1'), line('db-1'), 'no JSON'].join('\n'));
  const { accepted, unwatched, refused } = (await answer.json()) as Record<string, number>;
  assert.deepEqual({ accepted, unwatched, refused }, { accepted: 1, unwatched: 1, refused: 1 });
  const actual = (await observations()).map(({ series }) => series);
  assert.deepEqual(actual, ['web-1']);
  await writeFile(file, detectorsFile(topics, ['{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }']));
  await until('the changed detectors watch it', async () => {
    const { accepted: now } = (await (await post(line('db-1'))).json()) as { accepted: number };
    return now === 1;
  });
});

kafkaTest('the examples of the documentation are accepted', async (t) => {
  const { url, observations } = await receiver(t);
  const page = await readFile(new URL('../../../../src/api/README.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```shell\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  const cwd = freshFolder();
  await writeFile(join(cwd, 'otlp.json'), await emittedOtlp('json', 'cumulative'));
  const request = writeRequest([{ labels: { __name__: 'up' }, samples: [[Date.now(), 1]] }]);
  await writeFile(join(cwd, 'write-request.snappy'), snappyBlock(request));
  const env = exampleVariables(url, KEY);
  await promisify(execFile)('sh', ['-euc', examples.join('\n')], { env, cwd });
  const series = (await observations()).map((each) => each.series.split('{', 1)[0]);
  assert.deepEqual(series.sort(), [
    'cpu_user',
    'disk_used',
    'http.requests',
    'http.seconds_count',
    'http.seconds_sum',
    'queue.fill',
    'up',
    'web-1/cpu',
  ]);
});

kafkaTest('while Kafka is away the service is not ready, senders come back later, and nothing is lost', async (t) => {
  const kafka = await broker();
  const { url, ops, observations } = await receiver(t);
  const begin = Date.now();
  const post = (step: number) =>
    fetch(`${url}/api/v2/write?precision=ms`, {
      method: 'POST',
      headers: AUTHORIZED,
      body: `load value=${step} ${begin + step}`,
    });
  const readiness = async () => {
    const answer = await fetch(`${ops}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  assert.equal((await post(0)).status, 204);
  assert.equal((await readiness()).status, 200);
  await kafka.kill();
  const refused = await post(1);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.match(await refused.text(), /Kafka/);
  await until('the service is not ready', async () => (await readiness()).status === 503);
  assert.match((await readiness()).text, /Kafka cannot be reached/);
  await kafka.restart();
  await until('the service is ready, without a request', async () => (await readiness()).status === 200);
  assert.equal((await post(1)).status, 204);
  assert.deepEqual([...new Set((await observations()).map(({ value }) => value))].sort(), [0, 1]);
});

const reason = whyWithoutKafka ?? whyNoPrometheus;

test(`a real Prometheus writes what it scrapes${reason === null ? '' : ` (skipped: ${reason})`}`, {
  skip: reason !== null,
}, async (t) => {
  const { url, observations } = await receiver(t);
  let scrapes = 0;
  const exporter = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE jobs_total counter\njobs_total{queue="mail"} ${++scrapes}\n# TYPE fill gauge\nfill 0.25\n`);
  });
  const port = await listening(exporter);
  await startPrometheus(
    t,
    `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: test, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }]
remote_write: [{ url: "${url}/api/v1/write", authorization: { credentials: "${KEY}" }, queue_config: { batch_send_deadline: 1s } }]
`,
  );
  const labels = `instance="127.0.0.1:${port}",job="test"`;
  const valuesOf = async (series: string) =>
    (await observations()).filter((each) => each.series === series).map(({ value }) => value);
  await until(
    'three scrapes are in Kafka',
    async () => (await valuesOf(`jobs_total{${labels},queue="mail"}`)).length >= 3,
  );
  // A scrape that took too long is left out, and what was not answered in time is written again.
  const counted = [...new Set(await valuesOf(`jobs_total{${labels},queue="mail"}`))];
  const expected = counted.toSorted((a, b) => a - b);
  assert.deepEqual(counted, expected);
  assert.ok(counted.every((value) => Number.isInteger(value) && value >= 1 && value <= scrapes));
  assert.ok((await valuesOf(`fill{${labels}}`)).every((value) => value === 0.25));
  await until('its own series are there', async () => (await valuesOf(`up{${labels}}`)).length >= 3);
});
