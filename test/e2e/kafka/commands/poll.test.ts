/** The command `poll` between a real Prometheus and a real Kafka. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Topics } from '../../../../src/config/config.ts';
import { startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { listening } from '../../../fixture/http/listening.ts';
import { startPrometheus, whyNoPrometheus } from '../../../fixture/http/prometheus.ts';
import { committedRecords, freshTopics, kafkaConnection, whyWithoutKafka } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../../fixture/kafka/kafka-stream.ts';
import { until } from '../../../fixture/until.ts';

const reason = whyWithoutKafka ?? whyNoPrometheus;
const skipped = reason === null ? '' : ` (skipped: ${reason})`;

const PARTITIONS = 2;
const MIN = 60_000;
const HOURS = 6;
const STEP_S = 10;

/** Two gauges and a counter, a sample every step until now. */
function openMetrics(endMs: number): string {
  const times = Array.from({ length: (HOURS * 3_600) / STEP_S }, (_, i) => endMs / 1_000 - i * STEP_S).reverse();
  const gauge = (host: string, phase: number) =>
    times.map((s) => `load{host="${host}"} ${(10 + 3 * Math.sin(s / 3_600 + phase)).toFixed(3)} ${s}`);
  const counter = times.map((s, i) => `jobs_total ${i * 7} ${s}`);
  return ['# TYPE load gauge', ...gauge('a', 0), ...gauge('b', 1), '# TYPE jobs counter', ...counter, '# EOF\n'].join(
    '\n',
  );
}

/** Stands before Prometheus, and says when it has answered. */
async function proxied(target: string, onAnswer: (count: number) => void): Promise<string> {
  let count = 0;
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = { 'content-type': String(request.headers['content-type']) };
    const answer = await fetch(target + request.url, { method: 'POST', headers, body });
    const isSecret = request.headers.authorization === 'Bearer the-token';
    response.writeHead(isSecret ? answer.status : 401).end(Buffer.from(await answer.arrayBuffer()));
    onAnswer(++count);
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

interface Observation {
  readonly series: string;
  readonly timestamp: number;
  readonly value: number;
}

async function observations({ observations: topic }: Topics): Promise<readonly Observation[]> {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => committedRecords(topic, partition));
  return (await Promise.all(partitions)).flat().map(({ value }) => JSON.parse(String(value)) as Observation);
}

test(`weeks of a real Prometheus are polled once each, though pollers are killed and replaced${skipped}`, {
  skip: reason !== null,
  timeout: 600_000,
}, async (t) => {
  const endMs = Math.floor(Date.now() / MIN) * MIN;
  const prometheus = await startPrometheus(t, 'global: {}\n', { history: openMetrics(endMs) });
  let atAnswer = (_count: number) => {};
  const url = await proxied(prometheus.url, (count) => atAnswer(count));
  const topics = await freshTopics(PARTITIONS);
  const connection = await kafkaConnection();
  const file = join(freshFolder(), 'detectors.yaml');
  const history = `${HOURS + 1}h`;
  const source = `source:
  - { prometheus: "${url}", query: load, step: 10s, history: ${history}, delay: 1s }
  - { name: job_rate, prometheus: "${url}", query: "rate(jobs_total[5m])", step: 5min, history: ${history}, delay: 1s }
`;
  const entries = [
    '{ name: load, series: "load*", freq: 10s, h: 24, detection_size: 24 }',
    '{ name: jobs, series: job_rate, freq: 5min, h: 4, detection_size: 4 }',
  ];
  await writeFile(file, source + detectorsFile(topics, entries));
  const group = `poll-${topics.observations}`;
  const env = {
    KAFKA_BROKERS: connection.config.brokers.join(),
    KAFKA_GROUP_ID: group,
    DETECTORS: file,
    PROMETHEUS_AUTHORIZATION: 'Bearer the-token',
    OPS_PORT: '0',
  };

  // Killed when an answer was received and is being written, early and late in the history.
  for (const last of [2, 3]) {
    const victim = startCommand(['poll'], env);
    const from = await new Promise<number>((resolve) => {
      let first = 0;
      atAnswer = (count) => {
        first ||= count;
        if (count - first + 1 < last) return;
        atAnswer = () => {};
        setTimeout(() => {
          victim.kill();
          resolve(count);
        }, 40);
      };
    });
    assert.ok(from >= last);
    await victim.exitCode;
  }

  const first = startCommand(['poll'], env);
  const { ops } = await first.logged('polling');
  await until('the history is polled', async () => {
    const figures = await (await fetch(`${ops}/metrics`)).text();
    const behind = [...figures.matchAll(/source_behind_seconds\{source="([a-z_]+)"\} ([\d.]+)/g)];
    return (
      behind.length === 2 &&
      behind.every(([, name, seconds]) => {
        const stepMs = name === 'job_rate' ? 5 * MIN : STEP_S * 1_000;
        return Date.now() - Number(seconds) * 1_000 >= Math.floor(endMs / stepMs) * stepMs;
      })
    );
  });
  await until('both sources are polled', async () => (await fetch(`${ops}/readyz`)).ok);

  const second = startCommand(['poll'], env);
  await second.logged('polling');
  assert.equal(await first.exitCode, 1);
  assert.match(first.out.join('\n'), /the process cannot continue/);
  const before = (await observations(topics)).length;
  await until('the second one goes on', async () => (await observations(topics)).length > before);
  second.interrupt();
  assert.equal(await second.exitCode, 0);
  assert.doesNotMatch([...first.out, ...first.err, ...second.out].join('\n'), /the-token/);

  const found = await observations(topics);
  assert.equal(new Set(found.map(({ series, timestamp }) => `${series} ${timestamp}`)).size, found.length);
  const expected = async (query: string, name: string, stepS: number) => {
    const form = new URLSearchParams({
      query,
      start: String(Math.ceil((endMs / 1_000 - HOURS * 3_600) / stepS) * stepS),
      end: String(endMs / 1_000),
      step: String(stepS),
    });
    const answer = await fetch(`${prometheus.url}/api/v1/query_range?${form}`);
    const { data } = (await answer.json()) as {
      data: { result: { metric: { host?: string }; values: [number, string][] }[] };
    };
    return data.result.flatMap(({ metric, values }) =>
      values.map(
        ([s, value]) =>
          `${name}${metric.host === undefined ? '' : `{host="${metric.host}"}`} ${s * 1_000} ${Number(value)}`,
      ),
    );
  };
  const polledOf = (series: string) =>
    found
      .filter(
        (each) =>
          each.series.startsWith(series) && each.timestamp <= endMs && each.timestamp >= endMs - HOURS * 3_600_000,
      )
      .map((each) => `${each.series} ${each.timestamp} ${each.value}`)
      .sort();
  assert.deepEqual(polledOf('load'), (await expected('load', 'load', STEP_S)).sort());
  assert.deepEqual(polledOf('job_rate'), (await expected('rate(jobs_total[5m])', 'job_rate', 300)).sort());

  const worker = startCommand(['worker'], env);
  await until('the newest steps have a score', async () => {
    const scores = (await committedRecords(topics.scores, 0)).concat(await committedRecords(topics.scores, 1));
    const newest = scores.map(({ value }) => JSON.parse(String(value)) as { timestampMs: number; state: string });
    return (
      newest.filter(({ timestampMs, state }) => timestampMs >= endMs - 10 * MIN && state === 'scored').length >= 40
    );
  });
  worker.interrupt();
  await worker.exitCode;
});
