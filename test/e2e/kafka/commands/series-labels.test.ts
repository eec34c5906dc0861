/** From what Prometheus writes to an alert and a list of events, chosen by labels all the way. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { serve, stop } from '../../../fixture/http/served.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream, rekeyedInput } from '../../../fixture/kafka/kafka-stream.ts';
import { snappyBlock, writeRequest } from '../../../fixture/stream/emitted-metrics.ts';
import { until } from '../../../fixture/until.ts';

const PARTITIONS = 2;
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
  const stream = await kafkaStream(PARTITIONS, DETECTORS, INPUT);
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
