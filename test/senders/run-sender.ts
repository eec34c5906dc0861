import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { built } from './build.ts';
import type { Sender } from './senders.ts';

interface SenderPlace {
  /** Of its own. */
  readonly folder: string;
  /** `host:port` of what it scrapes every second. */
  readonly scraped: string;
  /** Where it writes over HTTP. */
  readonly url: string;
  readonly key: string;
  readonly brokers: string;
  readonly topic: string;
}

const prometheus =
  (message: string, native = false) =>
  (place: SenderPlace) =>
    `${scrapeConfig(place.scraped, native)}
remote_write:
  - url: ${place.url}/api/v1/write
    protobuf_message: ${message}
    authorization: { credentials: ${place.key} }
    send_native_histograms: ${native}
    queue_config: { batch_send_deadline: 1s, max_shards: 1 }
`;

const collector = (name: string, exporter: (place: SenderPlace) => string) => (place: SenderPlace) =>
  `
receivers:
  prometheus: { config: { scrape_configs: [{ job_name: test, scrape_interval: 1s, static_configs: [{ targets: ["${place.scraped}"] }] }] } }
exporters:
  ${name}: ${exporter(place)}
service:
  telemetry: { metrics: { level: none } }
  pipelines: { metrics: { receivers: [prometheus], exporters: [${name}] } }
`;
const headers = ({ key }: SenderPlace) => `headers: { authorization: "Bearer ${key}" }`;
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const RETRY = 'retry_on_failure: { initial_interval: 1s, max_interval: 2s }';

/** The configuration of each sender, and its arguments. */
const RUNS: Readonly<
  Record<string, { config(place: SenderPlace): string; args(file: string, place: SenderPlace): string[] }>
> = {
  prometheus: { config: prometheus('prometheus.WriteRequest'), args: prometheusArgs },
  'prometheus-2': { config: prometheus('io.prometheus.write.v2.Request'), args: prometheusArgs },
  'prometheus-native': { config: prometheus('io.prometheus.write.v2.Request', true), args: prometheusArgs },
  vmagent: {
    config: ({ scraped }) => scrapeConfig(scraped),
    args: (file, { url, key, folder }) => [
      `-promscrape.config=${file}`,
      `-remoteWrite.url=${url}/api/v1/write`,
      `-remoteWrite.bearerToken=${key}`,
      `-remoteWrite.tmpDataPath=${join(folder, 'queue')}`,
      '-remoteWrite.flushInterval=1s',
      '-remoteWrite.queues=1',
      '-httpListenAddr=127.0.0.1:0',
    ],
  },
  'collector-remote-write': {
    config: collector(
      'prometheusremotewrite',
      (place) => `{ endpoint: ${place.url}/api/v1/write, ${headers(place)}, ${RETRY} }`,
    ),
    args: (file) => ['--config', file],
  },
  'collector-otlp': {
    config: collector(
      'otlp_http',
      (place) => `{ metrics_endpoint: ${place.url}/v1/metrics, ${headers(place)}, ${RETRY} }`,
    ),
    args: (file) => ['--config', file],
  },
  'collector-grpc': {
    config: collector(
      'otlp_grpc',
      (place) =>
        `{ endpoint: ${place.url.slice('http://'.length)}, tls: { insecure: true }, ${headers(place)}, ${RETRY} }`,
    ),
    args: (file) => ['--config', file],
  },
  'collector-kafka': {
    config: collector('kafka', (place) => `{ brokers: ["${place.brokers}"], metrics: { topic: ${place.topic} } }`),
    args: (file) => ['--config', file],
  },
  'python-sdk': {
    config: ({ scraped, url, key }) => JSON.stringify({ scraped, url: `${url}/v1/metrics`, key }),
    args: (file) => [script('otlp_counter.py'), file],
  },
  'influx-python': {
    config: ({ scraped, url, key }) => JSON.stringify({ scraped, url, key }),
    args: (file) => [script('influx_counter.py'), file],
  },
  'micrometer-influx': {
    config: ({ scraped, url, key }) => [scraped, url, key].join('\n'),
    args: (file) => [script('MicrometerInflux.java'), file],
  },
  'python-sdk-grpc': {
    config: ({ scraped, url, key }) => JSON.stringify({ scraped, url, key }),
    args: (file) => [script('otlp_counter.py'), file],
  },
  'java-sdk-grpc': {
    config: ({ scraped, url, key }) => [scraped, url, key].join('\n'),
    args: (file) => [script('OtlpCounter.java'), file],
  },
};

function scrapeConfig(scraped: string, native = false): string {
  return `
global: { scrape_interval: 1s${native ? ', scrape_native_histograms: true' : ''} }
scrape_configs: [{ job_name: test, static_configs: [{ targets: ["${scraped}"] }] }]
`;
}

function prometheusArgs(file: string, { folder }: SenderPlace): string[] {
  return [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, '--web.listen-address=127.0.0.1:0'];
}

/** Starts a sender, whose output is in its folder. Returns what ends it, once it has written what it has. */
export async function startSender(sender: Sender, place: SenderPlace): Promise<() => Promise<void>> {
  const [program, ...before] = await built(sender);
  const { config, args } = RUNS[sender.name];
  await mkdir(place.folder, { recursive: true });
  const file = join(place.folder, 'config.yaml');
  await writeFile(file, config(place));
  const log = openSync(join(place.folder, 'log'), 'a');
  const child = spawn(program, [...before, ...args(file, place)], { stdio: ['ignore', log, log] });
  return async () => {
    child.kill('SIGTERM');
    await Promise.race([new Promise((resolve) => child.once('close', resolve)), sleep(15_000)]);
    child.kill('SIGKILL');
  };
}
