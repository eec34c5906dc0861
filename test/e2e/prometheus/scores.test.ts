/** What a real Prometheus has of scores and events. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Topics } from '../../../src/config/config.ts';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { type RunningCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { anomalyEvent } from '../../fixture/history/kept-records.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { serve, stop } from '../../fixture/http/served.ts';
import { isAtEnd } from '../../fixture/kafka/group-progress.ts';
import { freshTopics, kafkaConnection, whyWithoutKafka } from '../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../fixture/kafka/kafka-stream.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';
import { until, untilPasses } from '../../fixture/until.ts';

const reason = whyWithoutKafka ?? whyNoPrometheus;
const suffix = reason === null ? '' : ` (skipped: ${reason})`;
const skipped = { skip: reason !== null, timeout: 600_000 };
const LOAD = (instance: string) => `node_load1{instance="${instance}",job="node"}`;

async function stream(partitions = 1) {
  const topics = await freshTopics(partitions);
  const { config } = await kafkaConnection();
  const DETECTORS = join(freshFolder(), 'detectors.yaml');
  await writeFile(DETECTORS, detectorsFile(topics, ['{ name: cpu, series: "*", freq: min, h: 4, detection_size: 4 }']));
  return { topics, env: { KAFKA_BROKERS: config.brokers.join(), DETECTORS } };
}

async function write(
  topic: Topics[keyof Topics],
  records: readonly (ScoreRecord | AnomalyEvent)[],
  partition = 0,
): Promise<void> {
  const values = records.map((record) => ({ partition, key: null, value: Buffer.from(JSON.stringify(record)) }));
  await produceRecords(await kafkaConnection(), topic, values);
}

test(
  `Prometheus scrapes the newest scores of series with open events${reason === null ? '' : ` (skipped: ${reason})`}`,
  skipped,
  async (t) => {
    const { topics, env } = await stream();
    const score = scoreRecord({ series: LOAD('a:9100'), forecast: 4, lo: 3, hi: 5.5, grade: 0.75 });
    await write(topics.scores, [{ ...score, timestampMs: score.timestampMs - 60_000, grade: 0 }, score]);
    await write(topics.scores, [
      { ...score, series: LOAD('b:9100') },
      { ...score, series: 'web-1/cpu' },
    ]);
    await write(topics.events, [anomalyEvent('e', { series: LOAD('a:9100'), detector: 'cpu', kind: 'level_shift' })]);
    const served = await serve({ ...env, SCORES_PORT: '0', SCORES_SERIES: 'web-*' });
    const target = new URL(served.scores ?? '').host;
    const prometheus = await startPrometheus(
      t,
      `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: scores, honor_labels: true, static_configs: [{ targets: ["${target}"] }] }]
`,
    );
    const { samples } = prometheus;
    // Scores and events are read beside each other; a scrape may see one of them alone.
    await until('it has scraped', async () => {
      const shown = [
        'tidewatch_open_event',
        'tidewatch_grade{metric="node_load1"} > 0',
        'tidewatch_grade{metric="web-1/cpu"}',
      ];
      return (await Promise.all(shown.map((each) => samples(each)))).every(({ length }) => length === 1);
    });
    const own = { instance: 'a:9100', job: 'node', detector: 'cpu', metric: 'node_load1' };
    // After a scrape that took longer than its interval, Prometheus has no samples until the next one.
    const shows = (expression: string, expected: object) =>
      untilPasses(`${expression} is shown`, async () => assert.deepEqual(await samples(expression), [expected]));
    const labels = { __name__: 'tidewatch_open_event', ...own, kind: 'level_shift' };
    await shows('tidewatch_open_event', { labels, value: 1 });
    for (const [name, value] of Object.entries({ grade: 0.75, expected: 4, lower: 3, upper: 5.5 })) {
      const labels = { __name__: `tidewatch_${name}`, ...own };
      await shows(`tidewatch_${name}{metric="node_load1"}`, { labels, value });
    }
    // A series without labels does not take those of the target.
    const plain = { __name__: 'tidewatch_grade', detector: 'cpu', metric: 'web-1/cpu' };
    await shows('tidewatch_grade{metric="web-1/cpu"}', { labels: plain, value: 0.75 });
    await until('the last scrape was in time', async () => (await prometheus.query('up')) === 1);
    await write(topics.events, [
      anomalyEvent('e', {
        series: LOAD('a:9100'),
        type: 'closed',
        revision: 1,
        endedAtMs: 1,
        closeReason: 'recovered',
      }),
    ]);
    await until('it is closed', async () => (await samples('tidewatch_open_event')).length === 0);
    assert.deepEqual(await samples('tidewatch_grade{metric="node_load1"}'), []);
    await stop(served);
  },
);

test(
  `bands are in Prometheus at their event times, also after it was away and the writer was killed${suffix}`,
  skipped,
  async (t) => {
    const { topics, env } = await stream();
    const address = `127.0.0.1:${await freePort()}`;
    const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 30 * 60_000;
    const scores = (from: number, to: number, changes: Partial<ScoreRecord> = {}) =>
      Array.from({ length: to - from }, (_, i) => {
        const [step, series] = [from + i, LOAD('a:9100')];
        return scoreRecord({
          series,
          timestampMs: startMs + step * 60_000,
          forecast: step,
          lo: step - 1,
          hi: step + 1,
          ...changes,
        });
      });
    const writer = () =>
      startCommand(['remote-write', '--from-beginning', '--remote-write-series', 'node_*'], {
        ...env,
        REMOTE_WRITE_URL: `http://${address}/api/v1/write`,
        REMOTE_WRITE_AUTHORIZATION: 'Bearer a-secret-that-is-not-logged',
        KAFKA_SESSION_MS: '1500',
        OPS_PORT: '0',
      });
    await write(topics.scores, scores(0, 10));
    const first = writer();
    await first.until(() => first.out.some((line) => line.includes('no bands are written now')));
    const flags = ['--web.enable-remote-write-receiver'];
    const { samples } = await startPrometheus(t, 'scrape_configs: []', { address, flags });
    const lower = async (step: number) => (await samples('tidewatch_lower', startMs + step * 60_000))[0];
    await until('the first bands are there', async () => (await lower(9))?.value === 8);
    first.kill();
    await first.exitCode;
    // Between them samples that Prometheus cannot take: older than what it has.
    await write(topics.scores, [...scores(10, 12), ...scores(3, 4, { lo: -1 }), ...scores(12, 20)]);
    await write(topics.scores, scores(0, 20, { series: 'web-1/cpu' }));
    await write(topics.scores, scores(20, 21));
    const second = writer();
    // A Prometheus without remote write 2.0 refuses a whole request for one bad sample. Its halves are sent alone then:
    // all samples of one metric are there before those of the next one.
    for (let step = 0; step <= 20; step++) {
      await untilPasses(`the bands of step ${step} are there`, async () => {
        const found = await samples('{__name__=~"tidewatch_(expected|lower|upper)"}', startMs + step * 60_000);
        const values = Object.fromEntries(found.map(({ labels, value }) => [labels.__name__, value]));
        assert.deepEqual(values, { tidewatch_expected: step, tidewatch_lower: step - 1, tidewatch_upper: step + 1 });
      });
    }
    const labels = { detector: 'cpu', instance: 'a:9100', job: 'node', metric: 'node_load1', time: 'event' };
    assert.deepEqual((await lower(20))?.labels, { __name__: 'tidewatch_lower', ...labels });
    // What was written before the kill and not committed is refused, too: Prometheus has it already.
    await until('refusals are counted', async () => (await samplesOf(second, 'refused')) >= 4);
    // Else it stops before it commits, and the next one writes the same bands again.
    const written = { groupId: 'tidewatch-remote-write', topic: topics.scores };
    await until('its position is committed', async () => isAtEnd(await kafkaConnection(), written));
    second.interrupt();
    assert.equal(await second.exitCode, 0);
    const logged = [...first.out, ...second.out];
    assert.ok(logged.some((line) => line.includes('refuses samples of bands') && line.includes('400')));
    assert.ok(logged.every((line) => !line.includes('a-secret')));
    const third = writer();
    await third.until(() => third.out.some((line) => line.includes('"bands are written"')));
    await write(topics.scores, scores(21, 22));
    await until('it continues', async () => (await lower(21))?.value === 20);
    await until('they are counted', async () => (await samplesOf(third, 'accepted')) === 4);
    assert.equal(await samplesOf(third, 'refused'), 0);
    third.interrupt();
    assert.equal(await third.exitCode, 0);
  },
);

test(
  `writers of a group share the partitions, and take over those of one that was killed${suffix}`,
  skipped,
  async (t) => {
    const { topics, env } = await stream(2);
    const { url, samples } = await startPrometheus(t, 'scrape_configs: []', {
      flags: ['--web.enable-remote-write-receiver'],
    });
    const settings = { ...env, REMOTE_WRITE_URL: `${url}/api/v1/write`, KAFKA_SESSION_MS: '1500', OPS_PORT: '0' };
    const writers = [0, 1].map(() => startCommand(['remote-write', '--from-beginning'], settings));
    for (const { until: heard, out } of writers)
      await heard(() => out.some((line) => line.includes('"bands are written"')));
    const nowMs = Date.now();
    const series = ['a', 'b'].map(LOAD);
    const writeStep = async (step: number) => {
      for (const [partition, id] of series.entries()) {
        const score = scoreRecord({ series: id, timestampMs: nowMs - 100_000 + step * 500, lo: step });
        await write(topics.scores, [score], partition);
      }
    };
    const written = async (step: number) => (await samples(`tidewatch_lower == ${step}`)).length === series.length;
    await writeStep(1);
    await until('both partitions are written', () => written(1));
    const shares = async () => Promise.all(writers.map((writer) => samplesOf(writer, 'accepted')));
    let step = 2;
    for (; (await shares()).includes(0); step++) {
      await writeStep(step);
      await until('it is written', () => written(step));
    }
    writers[0].kill();
    await writers[0].exitCode;
    await writeStep(step);
    await until('the other one has both', () => written(step));
    writers[1].interrupt();
    assert.equal(await writers[1].exitCode, 0);
  },
);

/** Samples with this outcome, by the metrics of the command. */
async function samplesOf(writer: RunningCommand, outcome: string): Promise<number> {
  const { ops } = await writer.logged('bands are written');
  const text = await (await fetch(`${ops}/metrics`)).text();
  const [, samples = '0'] =
    new RegExp(`^tidewatch_remote_write_samples_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text) ?? [];
  return Number(samples);
}
