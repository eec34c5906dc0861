import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsDigest } from '../../../../src/config/config.ts';
import type { ScoreSink } from '../../../../src/stream/engine/batch-outcome.ts';
import { watchDetector } from '../../../../src/stream/engine/bound-detector.ts';
import { PartitionState } from '../../../../src/stream/engine/partition-state.ts';
import { arithmeticForecaster } from '../../../fixture/model/arithmetic-forecaster.ts';
import { detectorConfig, START_MS } from '../../../fixture/stream/stream-run.ts';

const config = detectorConfig();
const model = { forecaster: arithmeticForecaster(), digest: 'arithmetic' };
const watched = watchDetector(config, model, settingsDigest(config));

function forgetfulSink(): ScoreSink {
  const forget = () => {};
  return {
    score: forget,
    deadLetter: forget,
    duplicate: forget,
    gapFilled: forget,
    restarted: forget,
    windowClosed: forget,
    touched: forget,
    windowsGone: forget,
    unitGone: forget,
  };
}

function arrival(series: string, offset: number) {
  const record = { partition: 0, offset, timestampMs: 0, key: null, value: null };
  return { series, group: null, timestampMs: START_MS, value: 1, record, watched };
}

test('the memory of an evicted series goes to the next series', async () => {
  const state = new PartitionState({ topic: 'observations', partition: 0 }, 2);
  const { signal } = new AbortController();
  const blockOf = (series: string) => state.units.get(series)!.tracks()[0].detector.block;
  await state.score([arrival('oldest', 0), arrival('newer', 1)], forgetfulSink(), signal);
  const freed = blockOf('oldest');
  await state.score([arrival('newest', 2)], forgetfulSink(), signal);
  assert.deepEqual([...state.units.keys()], ['newer', 'newest']);
  assert.equal(blockOf('newest'), freed);
});
