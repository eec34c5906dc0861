import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { EXPORT_PATH } from '../../src/api/grpc/otlp-server.ts';
import { readTail } from '../../src/kafka/fetch/topic-tail.ts';
import { gaugeRequest, snappyBlock, writeRequest, writeRequest2 } from '../fixture/stream/emitted-metrics.ts';
import type { Bench } from './bench.ts';
import { makeTopics, PARTITIONS, withBroker } from './local-broker.ts';
import { startedCommand } from './started-command.ts';
import { printTable, rounded } from './table.ts';

const KEY = 'the-key-of-the-sender-in-the-bench';
const SERIES = 500;
/** Of each series in a body. */
const STEPS = 4;
const SECONDS = 10;
/** Requests that are open at once, as shards of a sender have them. */
const SENDERS = 4;
/** Far enough behind the clock that no time is ahead of it, whatever the speed. */
const BEGIN_MS = Date.now() - 30 * 86_400_000;

interface Format {
  /** Of HTTP; null: OTLP over gRPC. */
  readonly path: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Points of all series at some steps; the values are those of a gauge. */
  body(times: readonly number[]): Buffer;
}

const host = (i: number) => `host-${i}`;
const value = (i: number, timeMs: number) => Math.round(1_000 * Math.sin(timeMs / 3e6 + i)) / 100;

const loads = (times: readonly number[]) =>
  eachSeries((i) => ({
    labels: { __name__: 'node_load1', instance: host(i), job: 'node' },
    samples: times.map((time) => [time, value(i, time)] as const),
  }));

const otlp = (times: readonly number[]) => {
  const points = eachSeries((i) =>
    times.map((timestampMs) => ({ timestampMs, value: value(i, timestampMs), host: host(i) })),
  );
  return Buffer.from(gaugeRequest('system.load', points.flat()));
};

const FORMATS: Readonly<Record<string, Format>> = {
  remote_write: {
    path: '/api/v1/write',
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
    body: (times) => snappyBlock(writeRequest(loads(times))),
  },
  remote_write_2: {
    path: '/api/v1/write',
    headers: {
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
      'content-encoding': 'snappy',
    },
    body: (times) => snappyBlock(writeRequest2(loads(times))),
  },
  otlp: {
    path: '/v1/metrics',
    headers: { 'content-type': 'application/x-protobuf' },
    body: otlp,
  },
  otlp_grpc: { path: null, headers: {}, body: otlp },
  influx: {
    path: '/api/v2/write?precision=ms',
    headers: { 'content-type': 'text/plain' },
    body: (times) =>
      Buffer.from(
        eachSeries((i) => times.map((time) => `system,host=${host(i)} load1=${value(i, time)} ${time}`))
          .flat()
          .join('\n'),
      ),
  },
};

/** Points a second that `receive` takes in each format, with senders and broker on the same machine. */
export const run: Bench = () =>
  withBroker(async (connection) => {
    const folder = await mkdtemp(join(tmpdir(), 'tidewatch-ingest-'));
    const figures: Record<string, number> = {};
    const rows: (string | number)[][] = [];
    try {
      for (const [name, format] of Object.entries(FORMATS)) {
        const topics = await makeTopics(connection, name.replaceAll('_', '-'));
        const detectors = join(folder, `${name}.yaml`);
        await writeFile(
          detectors,
          `topics: { observations: ${topics.observations} }\ndetectors: [{ name: all, series: "*", freq: 10s, h: 4, detection_size: 4 }]\n`,
        );
        const env = {
          KAFKA_BROKERS: connection.config.brokers.join(),
          DETECTORS: detectors,
          TIDEWATCH_API_KEY: KEY,
          HTTP_PORT: '0',
          GRPC_PORT: '0',
          OPS_PORT: '0',
          DRAIN_MS: '0',
          DATA_DIR: join(folder, name),
        };
        const command = await startedCommand(['receive'], env, 'receiving');
        const before = await cpuSeconds(command.fields.ops);
        const { points, seconds } = await send(
          format,
          format.path === null ? viaGrpc(command.fields.grpc) : viaHttp(command.url, format),
        );
        const cpu = (await cpuSeconds(command.fields.ops)) - before;
        const inKafka = await recordsOf(connection, topics.observations);
        if (inKafka !== points) throw new Error(`${name}: ${points} points were answered, ${inKafka} are in Kafka`);
        figures[`${name}_points_per_s`] = rounded(points / seconds);
        rows.push([name, points, points / seconds, (1e6 * cpu) / points]);
        await command.stop();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    printTable(
      'Points received, in Kafka when they are answered',
      ['format', 'points', 'points/s', 'CPU of receive, us a point'],
      rows,
    );
    return figures;
  });

type Post = (body: Buffer) => Promise<void>;

function viaHttp(url: string, { path, headers }: Format): Post {
  const authorized = { ...headers, authorization: `Bearer ${KEY}` };
  return async (body) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: authorized, body: new Uint8Array(body) });
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
}

function viaGrpc(address: string): Post {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${KEY}`);
  const asIs = (bytes: Buffer) => bytes;
  return (body) =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(EXPORT_PATH, asIs, asIs, body, metadata, (error) => (error ? reject(error) : resolve()));
    });
}

async function send({ body }: Format, post: Post): Promise<{ points: number; seconds: number }> {
  let step = 0;
  // Made before: what a sender takes to make them is not measured.
  const bodies = Array.from({ length: 200 }, () =>
    body(Array.from({ length: STEPS }, () => BEGIN_MS + 10_000 * step++)),
  );
  const startedMs = performance.now();
  let [next, points] = [0, 0];
  const sender = async () => {
    while (performance.now() - startedMs < SECONDS * 1_000) {
      await post(bodies[next++ % bodies.length]);
      points += SERIES * STEPS;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return { points, seconds: (performance.now() - startedMs) / 1_000 };
}

/** Processor time of the process since its start. */
async function cpuSeconds(ops: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}

async function recordsOf(connection: Parameters<typeof readTail>[0], topic: string): Promise<number> {
  let count = 0;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    count += (await readTail(connection, { topic, partition, recordsMax: 10_000_000 })).length;
  }
  return count;
}

function eachSeries<T>(of: (i: number) => T): T[] {
  return Array.from({ length: SERIES }, (_, i) => of(i));
}
