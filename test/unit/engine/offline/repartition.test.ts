import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repartition, whyNotMoved } from '../../../../src/engine/offline/repartition.ts';
import { restoreForTools } from '../../../../src/engine/offline/state-tools.ts';
import { detectorsOfInput } from '../../../../src/engine/unit/loaded-detector.ts';
import { keyPartitioner } from '../../../../src/kafka/produce/key-partition.ts';
import {
  detectorConfig,
  loadArithmetic,
  observationRecord,
  streamConfig,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';

const config = detectorConfig({ settings: streamSettings({ context: 32 }), series: ['*'] });
const SERIES = Array.from({ length: 8 }, (_, i) => `up{instance="a",job="web-${i}"}`);

test('the labels of a series move with its state to another partition, where a template makes ids', async () => {
  const run = streamRun({ detectors: [config] });
  const stream = streamConfig([config]);
  const input = { ...stream.input, idTemplate: '{job}/{__name__}' };
  const worker = await run.start({ stream: { ...stream, input } });
  SERIES.forEach((series, i) => {
    run.broker.append(0, Buffer.from(`web-${i}/up`), observationRecord(series, 0, 1).value);
  });
  await run.settled();
  await worker.stop();

  const loaded = loadArithmetic(config);
  const lookup = { ...detectorsOfInput([loaded], input), detectorNamed: new Map([[config.name, loaded]]) };
  const source = await restoreForTools(await run.broker.openLog().openPartition(0), TOPICS.observations, lookup);
  const [before, after] = [keyPartitioner(1), keyPartitioner(2)];
  const plan = { ...lookup, partitions: 2, before, after, topics: TOPICS, version: 0 };
  assert.deepEqual(whyNotMoved([source], plan), []);
  const moved = await repartition([source], plan);
  const labels = moved.filter(({ key }) => key?.toString().startsWith('l/'));
  const expected = SERIES.flatMap((series, i) => {
    if (after(Buffer.from(`web-${i}/up`)) === 0) return [];
    return [`0 l/web-${i}/up null`, `1 l/web-${i}/up ${series}`];
  });
  assert.ok(expected.length > 0);
  assert.deepEqual(labels.map(({ partition, key, value }) => `${partition} ${key} ${value}`).sort(), expected.sort());
});
