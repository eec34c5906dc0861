/** The senders that `npm run senders` builds and runs; the table of deploy/book/senders.md is written from it. */
import { RECORDERS } from './recorders.ts';

export interface Sender {
  readonly name: string;
  readonly label: string;
  readonly version: string;
  /** A Go module, the Collector's builder, Fluent Bit's CMake, packages of PyPI, or artifacts of Maven. */
  readonly build:
    | { readonly go: string }
    | { readonly collector: string }
    | { readonly fluentBit: string }
    | { readonly pypi: readonly string[] }
    | { readonly maven: readonly string[] };
  /** The path of `receive` that it writes to, gRPC, or a topic. */
  readonly to: '/api/v1/write' | '/v1/metrics' | '/write' | 'gRPC' | 'topic';
  /** What it does with a request that is answered so; null where there are no answers. */
  readonly at: { readonly [status in 400 | 429 | 503]: 'drops' | 'repeats' } | null;
  /** What it does with points that nobody listened to for some seconds; null where Kafka takes them. */
  readonly outage: 'drops' | 'repeats' | null;
  /** What it counts of a request of which some points are refused. */
  readonly partial: string;
}

const COLLECTOR = { version: '0.165.0', build: { collector: '0.165.0' } } as const;
const DROPS = { 400: 'drops', 429: 'drops', 503: 'repeats' } as const;
const PROMETHEUS = {
  version: '3.16.0',
  build: { go: 'github.com/prometheus/prometheus/cmd/prometheus@v0.316.0' },
  to: '/api/v1/write',
  at: DROPS,
  outage: 'repeats',
  partial: 'the refused points alone as failed',
} as const;
const OTLP = { ...DROPS, 429: 'repeats' } as const;
const FLUENT_BIT = { version: '5.1.1', build: { fluentBit: '5.1.1' }, outage: 'repeats' } as const;

export const SENDERS: readonly Sender[] = [
  { name: 'prometheus', label: 'Prometheus, remote write 1.0', ...PROMETHEUS },
  { name: 'prometheus-2', label: 'Prometheus, remote write 2.0', ...PROMETHEUS },
  { name: 'prometheus-native', label: 'Prometheus, native histograms by remote write 2.0', ...PROMETHEUS },
  {
    name: 'vmagent',
    label: 'vmagent, its own protocol (zstd)',
    version: '1.151.0',
    build: { go: 'github.com/VictoriaMetrics/VictoriaMetrics/app/vmagent@v1.151.0' },
    to: '/api/v1/write',
    at: OTLP,
    outage: 'repeats',
    partial: 'the block as rejected (409), reasons in its log',
  },
  {
    name: 'collector-remote-write',
    label: 'OpenTelemetry Collector, `prometheusremotewrite`',
    ...COLLECTOR,
    to: '/api/v1/write',
    at: DROPS,
    outage: 'repeats',
    partial: 'the batch as failed',
  },
  {
    name: 'collector-otlp',
    label: 'OpenTelemetry Collector, `otlp_http`',
    ...COLLECTOR,
    to: '/v1/metrics',
    at: OTLP,
    outage: 'repeats',
    partial: 'the batch as sent, the refused points in a warning',
  },
  {
    name: 'collector-grpc',
    label: 'OpenTelemetry Collector, `otlp_grpc`',
    ...COLLECTOR,
    to: 'gRPC',
    at: OTLP,
    outage: 'repeats',
    partial: 'the batch as sent, the refused points in a warning',
  },
  {
    name: 'collector-kafka',
    label: 'OpenTelemetry Collector, `kafka`',
    ...COLLECTOR,
    to: 'topic',
    at: null,
    outage: null,
    partial: '',
  },
  {
    name: 'fluent-bit-remote-write',
    label: 'Fluent Bit, `prometheus_remote_write`',
    ...FLUENT_BIT,
    to: '/api/v1/write',
    at: OTLP,
    partial: 'the chunk as an error, reasons in its log',
  },
  {
    name: 'fluent-bit-otlp',
    label: 'Fluent Bit, `opentelemetry`',
    ...FLUENT_BIT,
    to: '/v1/metrics',
    at: OTLP,
    partial: 'nothing',
  },
  {
    name: 'fluent-bit-influx',
    label: 'Fluent Bit, `influxdb`',
    ...FLUENT_BIT,
    to: '/write',
    at: { 400: 'drops', 429: 'drops', 503: 'drops' },
    partial: 'the chunk as sent, reasons in its log',
  },
  {
    name: 'python-sdk',
    label: "OpenTelemetry's SDK for Python",
    version: '1.45.2',
    build: { pypi: ['opentelemetry-sdk==1.45.2', 'opentelemetry-exporter-otlp-proto-http==1.45.2'] },
    to: '/v1/metrics',
    at: OTLP,
    outage: 'repeats',
    partial: 'nothing',
  },
  {
    name: 'influx-python',
    label: "InfluxDB's client for Python, version 1",
    version: '5.3.2',
    build: { pypi: ['influxdb==5.3.2', 'influxdb-client==1.50.0'] },
    to: '/write',
    at: null,
    outage: 'drops',
    partial: 'raises an error with the reasons',
  },
  {
    name: 'micrometer-influx',
    label: "Micrometer's registry for InfluxDB",
    version: '1.17.2',
    build: { maven: ['io.micrometer:micrometer-registry-influx:1.17.2'] },
    to: '/write',
    at: { 400: 'drops', 429: 'drops', 503: 'drops' },
    outage: 'drops',
    partial: 'the batch as dropped, reasons in its log',
  },
  {
    name: 'python-sdk-grpc',
    label: "OpenTelemetry's SDK for Python, gRPC",
    version: '1.45.2',
    build: { pypi: ['opentelemetry-exporter-otlp-proto-grpc==1.45.2', 'opentelemetry-sdk==1.45.2'] },
    to: 'gRPC',
    at: OTLP,
    outage: 'repeats',
    partial: 'nothing',
  },
  {
    name: 'java-sdk-grpc',
    label: "OpenTelemetry's SDK for Java, gRPC",
    version: '1.68.0',
    build: {
      maven: ['io.opentelemetry:opentelemetry-sdk:1.68.0', 'io.opentelemetry:opentelemetry-exporter-otlp:1.68.0'],
    },
    to: 'gRPC',
    at: OTLP,
    outage: 'repeats',
    partial: 'nothing',
  },
];

const WRITTEN_TO: Readonly<Partial<Record<Sender['to'], string>>> = { gRPC: 'gRPC', topic: 'a topic' };

/** The table of the page. */
export function sendersTable(): string {
  const rows = SENDERS.map(({ label, version, to, at, outage, partial }) => {
    const answers = [...([400, 429, 503] as const).map((status) => at?.[status]), outage].map((each) => each ?? '-');
    return `| ${[label, version, WRITTEN_TO[to] ?? `\`${to}\``, ...answers, partial || '-'].join(' | ')} |`;
  });
  const head = '| sender | version | to | 400 | 429 | 503 | outage | it counts of a partly refused request |';
  const recorded = RECORDERS.map(({ label, version }) => `- ${label} (${version})`);
  const rule = '| --- | --- | --- | --- | --- | --- | --- | --- |';
  return [head, rule, ...rows, '', 'Tests also replay recorded bytes:', '', ...recorded].join('\n');
}
