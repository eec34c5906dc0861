import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartitionState } from '../../../../src/engine/state/partition-state.ts';
import { recordingSink } from '../../../fixture/stream/recording-sink.ts';
import { detectorConfig, loadArithmetic, START_MS } from '../../../fixture/stream/stream-run.ts';

const config = detectorConfig();
const loaded = loadArithmetic(config);

function observation(series: string, offset: number) {
  const record = { partition: 0, offset, timestampMs: 0, key: null, value: null };
  return { series, group: null, timestampMs: START_MS, value: 1, record, loaded };
}

test('a series is written to the changelog also when a truncation of the input made its offsets go back', async () => {
  const state = new PartitionState({ topic: 'observations', partition: 0 }, 2);
  const { signal } = new AbortController();
  const touched: string[] = [];
  const sink = recordingSink({ touched: ({ key }) => void touched.push(key) });
  await state.score([observation('a', 70), observation('a', 71)], sink, signal);
  assert.deepEqual(touched, ['a']);
  await state.score([observation('a', 50), observation('a', 51)], sink, signal);
  assert.deepEqual(touched, ['a', 'a']);
});

test('the memory of an evicted series goes to the next series', async () => {
  const state = new PartitionState({ topic: 'observations', partition: 0 }, 2);
  const { signal } = new AbortController();
  const blockOf = (series: string) => {
    const { slab, floatStart, doubleStart } = state.units.get(series)!.changelogSeries()[0].detector.rings;
    return { floats: slab.floats.buffer, doubles: slab.doubles.buffer, floatStart, doubleStart };
  };
  await state.score([observation('oldest', 0), observation('newer', 1)], recordingSink(), signal);
  const freed = blockOf('oldest');
  await state.score([observation('newest', 2)], recordingSink(), signal);
  assert.deepEqual([...state.units.keys()], ['newer', 'newest']);
  const block = blockOf('newest');
  assert.equal(block.floats, freed.floats);
  assert.equal(block.doubles, freed.doubles);
  assert.deepEqual([block.floatStart, block.doubleStart], [freed.floatStart, freed.doubleStart]);
});
