/** The command `receive` on a real Kafka, with the clients that write to it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { InfluxDB, Point } from '@influxdata/influxdb-client';
import { readTail } from '../../../src/kafka/fetch/topic-tail.ts';
import { startCommand } from '../../fixture/command.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { freshFolder } from '../../fixture/http/served.ts';
import { freshTopics, kafkaConnection, kafkaTest, whyWithoutKafka } from '../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../fixture/kafka/kafka-stream.ts';
import { emittedOtlp, snappyBlock, writeRequest } from '../../fixture/stream/emitted-metrics.ts';
import { until } from '../../fixture/until.ts';

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
  const file = join(await freshFolder(), 'detectors.yaml');
  const entries = detectors.length > 0 ? detectors : ['{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }'];
  await writeFile(file, detectorsFile(topics, entries));
  const command = startCommand(['receive'], {
    KAFKA_BROKERS: connection.config.brokers.join(),
    DETECTORS: file,
    TIDEWATCH_API_KEY: KEY,
    HTTP_PORT: '0',
    OPS_PORT: '0',
    DRAIN_MS: '0',
  });
  const started = () => command.out.find((line) => line.includes('"receiving"'));
  await command.until(() => started() !== undefined);
  t.after(() => command.kill());
  const { url, ops } = JSON.parse(started() ?? '{}') as { url: string; ops: string };
  const observations = async (): Promise<readonly (Observation & { key: string })[]> => {
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const tails = partitions.map((partition) =>
      readTail(connection, { topic: topics.observations, partition, recordsMax: 100_000 }),
    );
    return (await Promise.all(tails)).flat().map(({ key, value }) => {
      return { ...(JSON.parse(String(value)) as Observation), key: String(key) };
    });
  };
  return { url, ops, command, observations, topics, file };
}

kafkaTest('what OpenTelemetry and Influx clients write is in Kafka once it is answered', async (t) => {
  const { url, ops, observations, command } = await receiver(t);
  const headers = { ...AUTHORIZED, 'content-type': 'application/x-protobuf' };
  const body = await emittedOtlp('protobuf', 'cumulative');
  const answer = await fetch(`${url}/v1/metrics`, { method: 'POST', headers, body: Buffer.from(body) });
  assert.equal(answer.status, 200);
  const metrics = await observations();
  assert.deepEqual(metrics.map(({ series, value, key }) => [series, value, key === series]).sort(), [
    ['http.requests{instance="a:1",job="shop",route="/a"}', 7, true],
    ['http.seconds_count{instance="a:1",job="shop",route="/a"}', 3, true],
    ['http.seconds_sum{instance="a:1",job="shop",route="/a"}', 33, true],
    ['queue.fill{instance="a:1",job="shop"}', 0.5, true],
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
  await until('the client has written all', async () => (await observations()).length >= 4 + 5_000);
  assert.equal((await observations()).length, 4 + 5_000);
  const figures = await (await fetch(`${ops}/metrics`)).text();
  assert.match(figures, /tidewatch_points_received_total\{format="line-protocol",outcome="accepted"\} 5000/);
  command.terminate();
  assert.equal(await command.exitCode, 0);
});

kafkaTest(
  'points that no detector watches are left out until one does, and unknown keys receive nothing',
  async (t) => {
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
    assert.deepEqual(
      (await observations()).map(({ series }) => series),
      ['web-1'],
    );
    await writeFile(file, detectorsFile(topics, ['{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }']));
    await until('the changed detectors watch it', async () => {
      const { accepted: now } = (await (await post(line('db-1'))).json()) as { accepted: number };
      return now === 1;
    });
  },
);

kafkaTest('the examples of the documentation are accepted', async (t) => {
  const { url, observations } = await receiver(t);
  const page = await readFile(new URL('../../../src/sidecar/README.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```shell\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  assert.equal(examples.length, 4);
  const cwd = await freshFolder();
  await writeFile(join(cwd, 'otlp.json'), await emittedOtlp('json', 'cumulative'));
  const request = writeRequest([{ labels: { __name__: 'up' }, samples: [[Date.now(), 1]] }]);
  await writeFile(join(cwd, 'write-request.snappy'), snappyBlock(request));
  const env = { ...process.env, URL: url, TIDEWATCH_API_KEY: KEY };
  await promisify(execFile)('sh', ['-euc', examples.join('\n')], { env, cwd });
  const series = (await observations()).map((each) => each.series.split('{', 1)[0]);
  assert.deepEqual(series.sort(), [
    'cpu_user',
    'http.requests',
    'http.seconds_count',
    'http.seconds_sum',
    'queue.fill',
    'up',
    'web-1/cpu',
  ]);
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
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  t.after(() => exporter.close());
  const { port } = exporter.address() as AddressInfo;
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
  const counted = await valuesOf(`jobs_total{${labels},queue="mail"}`);
  assert.deepEqual(
    counted,
    counted.map((_, i) => i + 1),
  );
  assert.ok((await valuesOf(`fill{${labels}}`)).every((value) => value === 0.25));
  assert.ok((await valuesOf(`up{${labels}}`)).length >= 3);
});
