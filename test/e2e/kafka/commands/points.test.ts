/** What metric pipelines write: topics with the bytes of real emitters, and labels from Prometheus to an alert. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { Point } from '@influxdata/influxdb-client';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { listening } from '../../../fixture/http/listening.ts';
import { startPrometheus, whyNoPrometheus } from '../../../fixture/http/prometheus.ts';
import { serve, stop } from '../../../fixture/http/served.ts';
import { kafkaConnection, kafkaTest, whyWithoutKafka } from '../../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream, rekeyedInput } from '../../../fixture/kafka/kafka-stream.ts';
import { emittedOtlp, snappyBlock, writeRequest } from '../../../fixture/stream/emitted-metrics.ts';
import { until } from '../../../fixture/until.ts';

const DETECTOR =
  '{ name: every, series: "*", freq: 10s, h: 8, detection_size: 8, context: 64, silence_after: off, jitter: 0s }';
const PARTITIONS = 3;

/** A stream whose input holds many observations a record. */
async function pipelineStream(input: string, detectors = [DETECTOR]): Promise<KafkaStream> {
  const stream = await kafkaStream(PARTITIONS, detectors, input);
  await rekeyedInput(stream);
  return stream;
}

/** Series and values of all scores, once there are as many. */
async function scored(stream: KafkaStream, count: number) {
  await until(`${count} points are scored`, async () => (await stream.scores()).length >= count);
  return (await stream.scores()).map(({ series, timestampMs, value }) => ({ series, timestampMs, value }));
}

const seriesOf = (scores: readonly { series: string }[]) => [...new Set(scores.map(({ series }) => series))].sort();
const keyless = (value: Uint8Array) => ({ key: null, value: Buffer.from(value) });

kafkaTest('a topic as the Collector writes it is scored, in both encodings of OpenTelemetry', async () => {
  const stream = await pipelineStream('{ format: otlp }');
  const worker = await stream.startWorker();
  await stream.feed([keyless(await emittedOtlp('protobuf', 'delta')), keyless(Buffer.from('no request'))]);
  const place = 'instance="a:1",job="shop",otel_scope_name="test"';
  const expected = [
    `http.requests{${place},route="/a"}`,
    ...['0.5', '0.95', '0.99'].map((quantile) => `http.seconds{${place},quantile="${quantile}",route="/a"}`),
    `http.seconds_count{${place},route="/a"}`,
    `http.seconds_sum{${place},route="/a"}`,
    `queue.fill{${place}}`,
  ].sort();
  assert.deepEqual(seriesOf(await scored(stream, expected.length)), expected);
  await stream.feed([keyless(await emittedOtlp('json', 'delta'))]);
  await until('the JSON is carried over', async () => {
    return (await worker.metric('tidewatch_points_received_total', 'accepted')) >= 2 * expected.length;
  });
  await until('what is no request is a dead letter', async () => (await stream.deadLetters()).length > 0);
  const actual = (await stream.deadLetters()).map(({ reason, value }) => [
    reason,
    Buffer.from(value!, 'base64').toString(),
  ]);
  assert.deepEqual(actual, [['record-unreadable', 'no request']]);
  await worker.stop();
});

kafkaTest('thousands of points of one record become one score each, exactly once, under kills', async () => {
  const stream = await pipelineStream('{ format: influx }');
  const [steps, hosts, records] = [10, 400, 3];
  const beginMs = Date.now() - 3_600_000;
  const expected = new Map<string, number>();
  const bodies = Array.from({ length: records }, (_, record) => {
    const lines: string[] = [];
    for (let step = record * steps; step < (record + 1) * steps; step++) {
      for (let host = 0; host < hosts; host++) {
        const timestampMs = beginMs + step * 10_000;
        const point = new Point('cpu').tag('host', `h${host}`).floatField('user', step + host / 1_000);
        lines.push(point.timestamp(`${timestampMs}000000`).toLineProtocol()!);
        expected.set(`cpu_user{host="h${host}"} ${timestampMs}`, step + host / 1_000);
      }
    }
    return keyless(Buffer.from(lines.join('\n')));
  });
  for (const [i, body] of bodies.entries()) {
    const worker = await stream.startWorker({ KAFKA_COMMIT_INTERVAL_MS: '20' });
    await stream.feed([body]);
    if (i < records - 1) {
      await until('some are scored', async () => (await stream.scores()).length > i * steps * hosts);
      await worker.kill();
      continue;
    }
    const scores = await scored(stream, expected.size);
    assert.equal(scores.length, expected.size);
    for (const { series, timestampMs, value } of scores) {
      assert.equal(value, expected.get(`${series} ${timestampMs}`));
      expected.delete(`${series} ${timestampMs}`);
    }
    assert.equal(expected.size, 0);
    await worker.stop();
  }
  assert.deepEqual(await stream.deadLetters(), []);
});

kafkaTest('what of a record cannot be used is one dead letter, and the rest is scored', async () => {
  const stream = await pipelineStream('{ format: prometheus }');
  const worker = await stream.startWorker();
  const now = Date.now();
  const request = writeRequest([
    { labels: { __name__: 'up', job: 'a' }, samples: [[now, 1]] },
    { labels: { job: 'nameless' }, samples: [[now, 1]] },
    { labels: { __name__: 'ahead' }, samples: [[now + 86_400_000, 1]] },
  ]);
  await stream.feed([keyless(snappyBlock(request))]);
  assert.deepEqual(seriesOf(await scored(stream, 1)), ['up{job="a"}']);
  await until('the dead letter is there', async () => (await stream.deadLetters()).length === 1);
  const [{ reason, detail }] = await stream.deadLetters();
  assert.equal(reason, 'points-refused');
  assert.match(detail, /^2 of 3 points cannot be used: .*no name; ahead: .*future_limit/);
  await worker.stop();
});

kafkaTest('values of JSON records are series, named by labels', async () => {
  const stream = await pipelineStream('{ series: name, labels: tags, time_unit: s, values: [fields] }');
  const worker = await stream.startWorker();
  const timestamp = Math.floor(Date.now() / 1_000);
  const metric = { name: 'cpu', tags: { host: 'a' }, fields: { user: 1.5, idle: '98.5', state: 'fine' }, timestamp };
  await stream.feed([keyless(Buffer.from(JSON.stringify(metric)))]);
  assert.deepEqual((await scored(stream, 2)).map(({ series, value }) => [series, value]).sort(), [
    ['cpu_idle{host="a"}', 98.5],
    ['cpu_user{host="a"}', 1.5],
  ]);
  await worker.stop();
});

const reason = whyWithoutKafka ?? whyNoPrometheus;

test(`a topic of what a real Prometheus writes is scored${reason === null ? '' : ` (skipped: ${reason})`}`, {
  skip: reason !== null,
}, async (t) => {
  const stream = await pipelineStream('{ format: prometheus }', [DETECTOR.replace('"*"', '\'{job="test"}\'')]);
  // Prometheus gives a scrape up after a second: not every value arrives.
  let scrapes = 0;
  const pipeline = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    // What an adapter between Prometheus and Kafka does.
    if (request.url === '/api/v1/write') await stream.feed([keyless(Buffer.concat(parts))]);
    else response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(request.url === '/metrics' ? `# TYPE jobs_total counter\njobs_total ${++scrapes}\n` : '');
  });
  const port = await listening(pipeline);
  const worker = await stream.startWorker();
  await startPrometheus(
    t,
    `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: test, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }]
remote_write: [{ url: "http://127.0.0.1:${port}/api/v1/write", queue_config: { batch_send_deadline: 1s } }]
`,
  );
  const series = `jobs_total{instance="127.0.0.1:${port}",job="test"}`;
  await until('a scrape is scored', async () => (await stream.scores()).some((score) => score.series === series));
  const { value } = (await stream.scores()).find((score) => score.series === series)!;
  assert.ok(Number.isInteger(value) && value! >= 1 && value! <= scrapes, `${value} of ${scrapes}`);
  assert.deepEqual(await stream.deadLetters(), []);
  await worker.stop();
});

const LABELLED_PARTITIONS = 2;
const STEP_MS = 10_000;
const SILENCE = 'freq: 10s, h: 8, detection_size: 8, context: 64, silence_after: 5';
const DETECTORS = [
  `{ name: web, series: '{__name__="load", job=~"web-.*"}', ${SILENCE} }`,
  `{ name: racks, series: '{__name__=~"fan.*"}', ${SILENCE}, threshold_method: multivariate, by: [rack] }`,
];
const INPUT = '{ format: prometheus, drop_labels: [replica] }';
const KEY = 'the-key-of-every-reader-here';
interface Listed {
  readonly events: readonly object[];
  readonly groups: readonly object[];
  readonly total: number;
}

const GONE = 'load{instance="3",job="web-1"}';

/** What a pair of Prometheus servers writes: loads of twelve instances, one of which stops, and fans of two racks. */
function requests(beginMs: number, steps: number): Buffer[] {
  return Array.from({ length: steps }, (_, step) => {
    const sample = [[beginMs + step * STEP_MS, 1 + (step % 3)]] as const;
    const series = ['a', 'b'].flatMap((replica) => [
      ...Array.from({ length: 12 }, (_, i) => ({
        __name__: 'load',
        job: `web-${1 + (i % 2)}`,
        instance: String(i + 1),
        replica,
      })).filter(({ instance }) => instance !== '3' || step < steps / 2),
      ...['1', '2', '3', '4'].map((fan) => ({ __name__: `fan${fan}`, rack: Number(fan) % 2 ? 'x' : 'y', replica })),
      { __name__: 'load', job: 'db', instance: '1', replica },
    ]);
    return Buffer.from(snappyBlock(writeRequest(series.map((labels) => ({ labels, samples: sample })))));
  });
}

kafkaTest('series are chosen by labels: by detectors, in events, by a route of alerts and in lists', async (t) => {
  const stream = await kafkaStream(LABELLED_PARTITIONS, DETECTORS, INPUT);
  const { topics, groupId } = stream;
  await rekeyedInput(stream);
  const worker = await stream.startWorker();
  const steps = 40;
  const bodies = requests(Date.now() - (steps + 3) * STEP_MS, steps);
  await stream.feed(bodies.map((value) => ({ partition: 0, key: null, value })));
  const gone = async () => (await stream.events()).filter(({ series, kind }) => series === GONE && kind === 'silence');
  await until('the series that stopped has an event', async () => (await gone()).length > 0);
  const [event] = await gone();
  const seriesLabels = { __name__: 'load', instance: '3', job: 'web-1' };
  assert.deepEqual([event.detector, event.seriesLabels], ['web', seriesLabels]);
  const scores = await stream.scores();
  assert.deepEqual([...new Set(scores.map(({ group }) => group))].sort(), [null, '{rack="x"}', '{rack="y"}'].sort());
  assert.ok(scores.every(({ series }) => !series.includes('replica') && !series.includes('job="db"')));
  const observed = scores.filter(({ series, value }) => series === 'load{instance="1",job="web-1"}' && value !== null);
  assert.equal(new Set(observed.map(({ timestampMs }) => timestampMs)).size, observed.length, 'replicas are one');
  assert.equal((await stream.deadLetters()).length, 0);
  await worker.stop();

  const folder = freshFolder();
  const [detectors, routes] = [join(folder, 'detectors.yaml'), join(folder, 'routes.yaml')];
  const [chosen, others] = [await startHttpReceiver(), await startHttpReceiver()];
  await writeFile(detectors, stream.detectors);
  await writeFile(
    routes,
    `state_topic: state-${topics.events}
allow_private: [127.0.0.1]
receivers: [{ name: chosen, webhook: { url: "${chosen.url}" } }, { name: others, webhook: { url: "${others.url}" } }]
routes:
  - { name: none, receivers: others, match: { series: '{job="web-2"}' } }
  - { name: web, receivers: chosen, match: { series: '{job="web-1", instance!=""}' } }`,
  );
  const { config } = await kafkaConnection();
  const env = { KAFKA_BROKERS: config.brokers.join(), KAFKA_GROUP_ID: groupId, DETECTORS: detectors };
  const alerts = startCommand(['alerts', '--routes', routes, '--from-beginning'], { ...env, OPS_PORT: '0' });
  t.after(() => alerts.kill());
  await until('the route of its labels has told', async () => chosen.posts.length > 0);
  const [{ body }] = chosen.posts;
  assert.deepEqual(JSON.parse(body).data.events[0].seriesLabels, seriesLabels);
  assert.deepEqual(others.posts, []);

  const service = await serve({ ...env, DATA_DIR: folder, TIDEWATCH_API_KEY: KEY });
  t.after(() => service.command.kill());
  const listed = async (path: string, match: string) => {
    const url = `${service.url}${path}?match=${encodeURIComponent(match)}`;
    return (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json() as Promise<Listed>;
  };
  await until('the history has the event', async () => (await listed('/v1/events', '{job="web-1"}')).events.length > 0);
  assert.deepEqual((await listed('/v1/events', '{job="web-2"}')).events, []);
  await until('the history has the scores', async () => {
    const [{ total }, { groups }] = [
      await listed('/v1/series', '{job=~"web-.*"}'),
      await listed('/v1/groups', '{rack="x"}'),
    ];
    return total === 12 && groups.length === 1;
  });
  await stop(service);
});
