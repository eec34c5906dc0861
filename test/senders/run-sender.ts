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
/** It sends again without end, soon: by default twice, and the pause doubles up to half an hour. */
const fluentBit = (output: string, credentials: (key: string) => string) => ({
  config: ({ scraped, url, key }: SenderPlace) => `
[SERVICE]
    flush 1
    log_level error
    scheduler.base 1
    scheduler.cap 2
[INPUT]
    name prometheus_scrape
    host ${new URL(`http://${scraped}`).hostname}
    port ${new URL(`http://${scraped}`).port}
    scrape_interval 1s
[OUTPUT]
    name ${output}
    match *
    host ${new URL(url).hostname}
    port ${new URL(url).port}
    ${credentials(key)}
    retry_limit no_limits
`,
  args: (file: string) => ['-c', file],
});
const headers = ({ key }: SenderPlace) => `headers: { authorization: "Bearer ${key}" }`;
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** A program of this folder, and its settings: JSON, or lines for Java. */
const program = (name: string, path = '') => ({
  config: ({ scraped, url, key }: SenderPlace) =>
    name.endsWith('.py') ? JSON.stringify({ scraped, url: url + path, key }) : [scraped, url + path, key].join('\n'),
  args: (file: string) => [script(name), file],
});
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
  'fluent-bit-remote-write': fluentBit(
    'prometheus_remote_write',
    (key) => `uri /api/v1/write\n    header Authorization Bearer ${key}`,
  ),
  'fluent-bit-otlp': fluentBit('opentelemetry', (key) => `header Authorization Bearer ${key}`),
  'fluent-bit-influx': fluentBit('influxdb', (key) => `http_user any\n    http_passwd ${key}`),
  'python-sdk': program('otlp_counter.py', '/v1/metrics'),
  'influx-python': program('influx_counter.py'),
  'micrometer-influx': program('MicrometerInflux.java'),
  'python-sdk-grpc': program('otlp_counter.py'),
  'java-sdk-grpc': program('OtlpCounter.java'),
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
