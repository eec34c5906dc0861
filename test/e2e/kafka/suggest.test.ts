/** The command `suggest` on a topic and on a real Prometheus. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDetectorsFile } from '../../../src/config/detectors-file.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';

const MIN = 60_000;
const value = (i: number) => (10 + Math.sin(i / 20) + Math.sin(i * 12.9898) / 4).toFixed(3);

function loaded(text: string) {
  const problems: string[] = [];
  const file = readDetectorsFile('suggested', text, problems);
  assert.deepEqual(problems, [], text);
  return file!;
}

kafkaTest(
  'the newest records of a topic are looked at, as the input says, and what cannot be read is counted',
  async () => {
    const connection = await kafkaConnection();
    const { observations: topic } = await freshTopics(2);
    const records = Array.from({ length: 600 }, (_, i) => {
      const record = {
        id: `load{host="${'ab'[i % 2]}"}`,
        timestamp: Date.now() - i * MIN,
        value: Number(value(i)),
      };
      return { key: Buffer.from(record.id), value: Buffer.from(JSON.stringify(record)) };
    });
    await produceRecords(connection, topic, [...records, { key: null, value: Buffer.from('no JSON') }]);
    const file = join(freshFolder(), 'detectors.yaml');
    const entry = 'detectors: [{ name: a, series: "*", freq: min, h: 4, detection_size: 4 }]';
    await writeFile(file, `input:\n  series: id # not the default\n\n${entry}\n`);
    const env = { KAFKA_BROKERS: connection.config.brokers.join(), DETECTORS: file };
    const { exitCode, out, err } = await runCommand(['suggest', '--topic', topic, '--event-series', '0'], env);
    assert.equal(exitCode, 0, err.join('\n'));
    assert.match(err.join('\n'), /1 of 601 records cannot be read, the first at partition \d offset \d+: /);
    const { detectors, topics, input } = loaded(out.join('\n')).stream;
    assert.deepEqual([topics.observations, input.series], [topic, ['id']]);
    assert.deepEqual(
      detectors.map(({ series, settings }) => [series, settings.freq.alias]),
      [[['{__name__="load"}'], '2min']],
    );
  },
);

test(`weeks of a real Prometheus become sources and detectors${whyNoPrometheus === null ? '' : ` (skipped: ${whyNoPrometheus})`}`, {
  skip: whyNoPrometheus !== null,
}, async (t) => {
  const end = Math.floor(Date.now() / MIN) * 60;
  const times = Array.from({ length: 1_000 }, (_, i) => end - (999 - i) * 60);
  const history = [
    '# TYPE load gauge',
    ...['a', 'b'].flatMap((host, at) => times.map((s, i) => `load{host="${host}"} ${value(i + 7 * at)} ${s}`)),
    '# TYPE jobs counter',
    ...times.map((s, i) => `jobs_total{host="a"} ${i * 9 + (i % 9)} ${s}`),
    '# TYPE fixed gauge',
    ...times.map((s) => `fixed 7 ${s}`),
    '# EOF\n',
  ].join('\n');
  const { url } = await startPrometheus(t, 'global: {}\n', { history });
  const match = '{__name__=~"load|jobs_total|fixed"}';
  const asked = ['suggest', '--prometheus', url, '--match', match, '--step', '1min', '--weeks', '1'];
  const { exitCode, out, err } = await runCommand(asked);
  assert.equal(exitCode, 0, err.join('\n'));
  const text = out.join('\n');
  const { stream, sources } = loaded(text);
  assert.deepEqual(
    sources.map(({ name, query, stepMs }) => [name, query, stepMs]),
    [
      ['gauges', '{__name__=~"load|jobs_total|fixed", __name__!~"jobs_total"}', MIN],
      ['jobs_total.rate', `rate({__name__=~"load|jobs_total|fixed", __name__="jobs_total"}[300s])`, MIN],
    ],
  );
  assert.deepEqual(stream.detectors.map(({ series }) => series[0]).sort(), [
    '{__name__="jobs_total.rate"}',
    '{__name__="load"}',
  ]);
  assert.match(text, /# Raised: \d+ events? in 0\.\d weeks of 2 series/);
  assert.match(text, /"fixed": 1 series \("fixed"\) never changed/);
  for (const { query } of sources) {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    assert.ok(((await answer.json()) as { data: { result: unknown[] } }).data.result.length > 0, query);
  }
});
