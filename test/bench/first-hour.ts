import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../src/local-kafka/free-port.ts';
import { ensureTopics } from '../../src/stream/topics/topic-admin.ts';
import { startAlertmanager, whyNoAlertmanager } from '../fixture/alerts/alertmanager.ts';
import { type RunningPrometheus, startPrometheus, whyNoPrometheus } from '../fixture/http/prometheus.ts';
import { TOPICS } from '../fixture/stream/stream-run.ts';
import { until } from '../fixture/until.ts';
import type { Bench } from './bench.ts';
import { withBroker } from './local-broker.ts';
import { startedCommand } from './started-command.ts';
import { printTable } from './table.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const KEY = 'the-key-of-the-first-hour-alone';
/** How long Prometheus has sent, a point a second, before somebody asks what to watch. */
const OBSERVED_S = 180;
const WAIT = { waitMsMax: 600_000, everyMs: 250 };

/** The incident: the latency of one service, in seconds. */
interface Incident {
  isOn: boolean;
}

/**
 * What a platform engineer does in the first hour, with everything real. A Prometheus scrapes two services and sends to
 * `receive`; `suggest` says what to watch; worker, console, bands and alerts run; an incident happens. Measured is when
 * something is there, from the first command on and after the incident. `--observe SECONDS`: how long is sent before.
 */
export const run: Bench = async (args) => {
  const why = whyNoPrometheus ?? whyNoAlertmanager;
  if (why !== null) throw new Error(why);
  const observedS = args[0] === '--observe' ? Number(args[1]) : OBSERVED_S;
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-first-hour-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const after = (end: () => unknown) => void ends.push(async () => end());
  const startedMs = performance.now();
  const figures: Record<string, number> = {};
  const mark = (name: string, sinceMs = startedMs) => {
    figures[name] = Math.round((performance.now() - sinceMs) / 100) / 10;
  };
  try {
    await withBroker(async ({ config }) => {
      await ensureTopics({ config }, TOPICS, { partitions: 2, replicationFactor: 1, retentionMs: null });
      const env = { KAFKA_BROKERS: config.brokers.join(), TIDEWATCH_API_KEY: KEY, DATA_DIR: folder, OPS_PORT: '0' };
      await hour({ folder, env, after, mark, observedS }).finally(async () => {
        for (const end of ends.splice(1).reverse()) await end();
      });
    });
  } finally {
    for (const end of ends) await end();
  }
  printTable('The first hour', ['what', 'after s'], Object.entries(figures));
  return figures;
};

interface Hour {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly observedS: number;
  after(end: () => unknown): void;
  mark(name: string, sinceMs?: number): void;
}

async function hour({ folder, env, after, mark, observedS }: Hour): Promise<void> {
  const start = async (args: readonly string[], message: string, more: Readonly<Record<string, string>> = {}) => {
    const command = await startedCommand(args, { ...env, HTTP_PORT: '0', DRAIN_MS: '0', ...more }, message);
    after(() => command.stop());
    return command;
  };
  const receive = await start(['receive'], 'receiving');
  mark('receive_s');
  const incident: Incident = { isOn: false };
  const targets = await Promise.all(['shop', 'cart'].map((service, i) => exporter(service, i, incident, after)));
  const scoresPort = await freePort();
  const prometheus = await startPrometheus({ after } as never, prometheusFile(targets, receive.url, scoresPort), {
    flags: ['--web.enable-remote-write-receiver'],
  });
  const alertmanager = await startAlertmanager({ after } as never, { webhook: 'http://127.0.0.1:9/' });
  const headers = { authorization: `Bearer ${KEY}` };
  await until('points are received', () => isAccepted(receive.fields.ops), WAIT);
  mark('first_points_s');
  await until('there is something to look at', async () => (await samplesOf(prometheus)) >= observedS, WAIT);
  const detectors = join(folder, 'detectors.yaml');
  const suggestedMs = performance.now();
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [MAIN, 'suggest', '--topic', TOPICS.observations, '--out', detectors],
    { env: { PATH: process.env.PATH, ...env } },
  );
  mark('suggest_took_s', suggestedMs);
  console.log(`${stderr}\n${await readFile(detectors, 'utf8')}`);
  const beganMs = performance.now();
  await start(['worker'], 'worker started', { DETECTORS: detectors });
  const served = await start(['serve'], 'serving', { DETECTORS: detectors, SCORES_PORT: String(scoresPort) });
  await start(['remote-write', '--from-beginning'], 'bands are written', {
    DETECTORS: detectors,
    REMOTE_WRITE_URL: `${prometheus.url}/api/v1/write`,
  });
  await writeFile(join(folder, 'routes.yaml'), routesTo(alertmanager.url));
  await start(['alerts', '--routes', join(folder, 'routes.yaml')], 'alerts started', { DETECTORS: detectors });
  const watched = 'app_latency_seconds{instance="shop:80",job="app"}';
  const listed = async <T>(path: string) => (await (await fetch(`${served.url}${path}`, { headers })).json()) as T;
  await until(
    'the series is judged',
    async () => {
      const { series } = await listed<{ series: { id: string; state: string }[] }>('/v1/series?limit=100');
      return series.some(({ id, state }) => id === watched && state === 'scored');
    },
    WAIT,
  );
  mark('judged_after_worker_s', beganMs);
  mark('judged_s');
  incident.isOn = true;
  const incidentMs = performance.now();
  const own = 'metric="app_latency_seconds",instance="shop:80",job="app"';
  const isThere = async (expression: string) => (await prometheus.samples(expression)).length > 0;
  const seen = async (name: string, holds: () => Promise<boolean>) => {
    await until(name, holds, WAIT);
    mark(name, incidentMs);
  };
  await Promise.all([
    seen('incident_to_event_in_console_s', async () => {
      const { events } = await listed<{ events: { series: string | null }[] }>('/v1/events?open=true');
      return events.some(({ series }) => series === watched);
    }),
    seen('incident_to_grade_in_prometheus_s', () => isThere(`tidewatch_grade{${own},time=""} > 0.5`)),
    seen('incident_to_open_event_in_prometheus_s', () => isThere(`tidewatch_open_event{${own}}`)),
    seen('incident_to_band_in_prometheus_s', () =>
      isThere(`app_latency_seconds{instance="shop:80"} > on() tidewatch_upper{${own},time="event"}`),
    ),
    seen('incident_to_alert_s', async () => {
      return (await alertmanager.alerts()).some(({ labels }) => labels.series === watched);
    }),
  ]);
  mark('all_s');
}

/** A service with a latency, a queue and a counter of requests. */
async function exporter(service: string, phase: number, incident: Incident, after: Hour['after']): Promise<string> {
  let requests = 0;
  const server = createServer((_, response) => {
    const s = Date.now() / 1_000;
    const noise = Math.sin(12.9898 * s + phase) * 43_758.5453;
    const wave = 1 + 0.3 * Math.sin(s / 20 + phase) + 0.1 * (noise - Math.floor(noise));
    requests += Math.round(50 * wave);
    const latency = wave * (incident.isOn && service === 'shop' ? 8 : 1);
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE app_latency_seconds gauge
app_latency_seconds ${(0.1 * latency).toFixed(4)}
# TYPE app_queue gauge
app_queue ${(20 * wave).toFixed(1)}
# TYPE app_requests_total counter
app_requests_total ${requests}
`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return `{ targets: ["127.0.0.1:${(server.address() as AddressInfo).port}"], labels: { instance: "${service}:80" } }`;
}

const prometheusFile = (targets: readonly string[], receiver: string, scoresPort: number) => `
global: { scrape_interval: 1s, evaluation_interval: 1s }
storage: { tsdb: { out_of_order_time_window: 1h } }
scrape_configs:
  - { job_name: app, static_configs: [${targets.join(', ')}] }
  - { job_name: tidewatch-scores, honor_labels: true, static_configs: [{ targets: ["127.0.0.1:${scoresPort}"] }] }
remote_write:
  - url: ${receiver}/api/v1/write
    authorization: { credentials: ${KEY} }
    queue_config: { batch_send_deadline: 1s }
    write_relabel_configs: [{ source_labels: [__name__], regex: "app_.*", action: keep }]
`;

const routesTo = (alertmanager: string) => `allow_private: ["127.0.0.1"]
receivers: [{ name: ours, alertmanager: { url: "${alertmanager}" } }]
routes: [{ name: all, receivers: ours }]
`;

async function isAccepted(ops: string): Promise<boolean> {
  return /points_received_total\{[^}]*outcome="accepted"\} [1-9]/.test(await (await fetch(`${ops}/metrics`)).text());
}

/** How often a series was scraped. */
async function samplesOf(prometheus: RunningPrometheus): Promise<number> {
  return (await prometheus.query('min(count_over_time(app_latency_seconds[1h]))')) ?? 0;
}
