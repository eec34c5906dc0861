import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForecastBatch, Forecaster } from '../../../src/detector/forecast.ts';
import type { ScoreSink } from '../../../src/stream/batch-outcome.ts';
import { PartitionState } from '../../../src/stream/partition-state.ts';
import type { ScoreRecord } from '../../../src/stream/score-record.ts';
import { type WatchedDetector, watchDetector } from '../../../src/stream/watched-detector.ts';
import { arithmeticForecaster } from '../../fixture/arithmetic-forecaster.ts';
import { detectorConfig, START_MS, STEP_MS } from '../../fixture/stream-run.ts';

const { signal } = new AbortController();
const PLACE = { topic: 'observations', partition: 0 };
/** Observations before the first cutoff of `detectorConfig()`. */
const FIRST_CUTOFF = 16;

/** Answers when it is let, and not before. */
function slowForecaster(): Forecaster & { readonly asked: ForecastBatch[]; answer(): void } {
  const model = arithmeticForecaster();
  const asked: ForecastBatch[] = [];
  let waiting: (() => void)[] = [];
  return {
    limits: model.limits,
    asked,
    async forecast(batch) {
      asked.push(batch);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return model.forecast(batch);
    },
    answer() {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

function watch(forecaster: Forecaster): WatchedDetector {
  return watchDetector(detectorConfig(), { forecaster, digest: 'arithmetic' }, 'settings');
}

function arrivals(series: string, watched: WatchedDetector, from: number, to: number, offset: number) {
  return Array.from({ length: to - from }, (_, i) => {
    const timestampMs = START_MS + (from + i) * STEP_MS;
    const record = { partition: 0, offset: offset + i, timestampMs, key: null, value: null };
    return { series, group: null, timestampMs, value: 10 + ((from + i) % 3), record, watched };
  });
}

function collectScores(): { readonly sink: ScoreSink; readonly scores: ScoreRecord[] } {
  const scores: ScoreRecord[] = [];
  const ignore = () => {};
  const sink: ScoreSink = {
    score: (score) => void scores.push(score),
    deadLetter: ignore,
    duplicate: ignore,
    gapFilled: ignore,
    restarted: ignore,
    windowClosed: ignore,
    touched: ignore,
    windowsGone: ignore,
    unitGone: ignore,
  };
  return { sink, scores };
}

/** Until everything that can go on without the model has. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a forecast is asked for as soon as it is due, before the observation that needs it', async () => {
  const forecaster = slowForecaster();
  const state = new PartitionState(PLACE, 10);
  const { sink, scores } = collectScores();
  await state.score(arrivals('a', watch(forecaster), 0, FIRST_CUTOFF, 0), sink, signal);
  await turn();
  assert.equal(forecaster.asked.length, 1);
  const scoring = state.score(arrivals('a', watch(forecaster), FIRST_CUTOFF, FIRST_CUTOFF + 1, 100), sink, signal);
  await turn();
  assert.equal(scores.length, FIRST_CUTOFF, 'the observation waits');
  forecaster.answer();
  await scoring;
  assert.equal(scores.length, FIRST_CUTOFF + 1);
  assert.notEqual(scores.at(-1)?.forecast, null);
  assert.equal(forecaster.asked.length, 1, 'it is asked for once');
});

test('a forecast that comes too late for its series does not reach the one that has its memory now', async () => {
  const forecaster = slowForecaster();
  const watched = watch(forecaster);
  const state = new PartitionState(PLACE, 1);
  const disturbed = collectScores();
  await state.score(arrivals('evicted', watched, 0, FIRST_CUTOFF, 0), disturbed.sink, signal);
  await turn();
  assert.equal(forecaster.asked.length, 1);
  await state.score(arrivals('b', watched, 0, 1, 100), disturbed.sink, signal);
  forecaster.answer();
  await turn();
  const rest = state.score(arrivals('b', watched, 1, 40, 101), disturbed.sink, signal);
  const undisturbed = collectScores();
  const alone = watch(arithmeticForecaster());
  await new PartitionState(PLACE, 1).score(arrivals('b', alone, 0, 40, 100), undisturbed.sink, signal);
  while (disturbed.scores.length < FIRST_CUTOFF + 40) {
    forecaster.answer();
    await turn();
  }
  await rest;
  assert.deepEqual(disturbed.scores.slice(FIRST_CUTOFF), undisturbed.scores);
});

test('a model that failed while nobody waited fails whoever needs the forecast', async () => {
  const failing: Forecaster = { ...arithmeticForecaster(), forecast: () => Promise.reject(new Error('out of order')) };
  const watched = watch(failing);
  const state = new PartitionState(PLACE, 10);
  const { sink } = collectScores();
  await state.score(arrivals('a', watched, 0, FIRST_CUTOFF, 0), sink, signal);
  await turn();
  const scoring = state.score(arrivals('a', watched, FIRST_CUTOFF, FIRST_CUTOFF + 1, 100), sink, signal);
  await assert.rejects(scoring, /out of order/);
});
