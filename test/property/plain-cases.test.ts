/** Plain cases that a detector must not get wrong, each with the shipped model and the defaults of a detector. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseFrequency } from '../../src/calendar/frequency.ts';
import { type DetectorFlagValues, detectorOfFlags } from '../../src/command/detector-flags.ts';
import type { DetectionSettings } from '../../src/detector/settings.ts';
import { twoSidedThreshold } from '../../src/detector/threshold.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/onnx-forecaster.ts';
import { detectOnline } from '../../src/sidecar/tasks/detect-online.ts';
import { bindDetector } from '../../src/stream/engine/bound-detector.ts';
import { scoreHistory } from '../../src/stream/engine/score-history.ts';
import type { ScoreRecord } from '../../src/stream/record/score-record.ts';

const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 60_000;

const catalog = await openCatalog({ modelsDir: null });
const model = catalog.get('tsmodel-1');
assert.ok(model !== null && model !== undefined);
const forecasters = await Forecasters.start([model], { threads: 1 });
after(() => forecasters.close());

/** Scores values a minute apart, by a detector of these flags. */
async function score(values: readonly number[], flags: Partial<DetectorFlagValues> = {}): Promise<ScoreRecord[]> {
  const made = detectorOfFlags(flags as DetectorFlagValues, parseFrequency('min')!);
  assert.equal(made.kind, 'detector');
  const { settings } = made.detector;
  const config = { ...made.detector, settings: { ...settings, context: 512 } };
  const forecaster = forecasters.forecasterFor('tsmodel-1', settings.h);
  const bound = bindDetector(config, { forecaster, digest: 'plain-cases' }, 'defaults');
  const history = values.map((value, i) => ({ series: 'a', value, timestampMs: START_MS + i * STEP_MS }));
  const scores: ScoreRecord[] = [];
  const options = { source: 'test', detectors: [bound], group: null };
  const onScores = (more: readonly ScoreRecord[]) => void scores.push(...more);
  await scoreHistory(history, { ...options, onScores }, new AbortController().signal);
  assert.equal(scores.length, values.length);
  return scores;
}

/** Online detection over HTTP, with robust calibration on the whole history. */
function detect(
  series: readonly number[][],
  settings: Partial<DetectionSettings> & { h: number; detectionSize: number },
) {
  const defaults = { level: 99, thresholdMethod: 'univariate', calibration: 'robust', calibrationSize: 'all' } as const;
  return detectOnline({
    series,
    settings: { ...defaults, alarmRate: null, context: 512, stepSize: settings.h, ...settings },
    forecaster: forecasters.forecasterFor('tsmodel-1', settings.h),
  });
}

/** Standard normal noise that is the same in every run (mulberry32, Box and Muller 1958). */
function noiseOf(seed: number): () => number {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

const valuesOf = (length: number, value: (i: number) => number) => Array.from({ length }, (_, i) => value(i));
const flaggedBetween = (scores: readonly ScoreRecord[], from: number, to: number) =>
  scores.slice(from, to).filter(({ anomaly }) => anomaly).length;

test('flat, then a jump: every point of the incident that opens a window is scored and flagged', async () => {
  const scores = await score(valuesOf(800, (i) => (i >= 600 && i < 624 ? 500 : 0)));
  assert.equal(flaggedBetween(scores, 0, 600), 0);
  assert.equal(flaggedBetween(scores, 600, 624), 24);
  assert.ok(scores.slice(600, 624).every(({ anomalyScore }) => Number.isFinite(anomalyScore)));
  assert.equal(scores[600].alarm, true);
});

test('flat, then a jump in the middle of a window: its onset is flagged, and none of it has no score', async () => {
  const scores = await score(valuesOf(800, (i) => (i >= 606 && i < 630 ? 500 : 0)));
  assert.equal(flaggedBetween(scores, 606, 624), 18);
  assert.ok(scores.slice(606, 630).every(({ anomalyScore }) => Number.isFinite(anomalyScore)));
});

test('a series of equal values flags each single odd one', async () => {
  const odd = (i: number) => i > 600 && i % 37 === 0;
  const scores = await score(valuesOf(760, (i) => (odd(i) ? 29 : 20)));
  const flagged = scores.flatMap(({ anomaly }, i) => (anomaly ? [i] : []));
  for (const i of [629, 666, 703, 740]) assert.ok(flagged.includes(i) && scores[i].grade! > 0.5, `${i} of ${flagged}`);
});

for (const glitch of [100, 1e5, 1e38]) {
  test(`a glitch of ${glitch} deviations does not blind the series: 12 of 12 spikes of 8 are found`, async () => {
    const noise = noiseOf(5);
    const spikes = valuesOf(12, (k) => 708 + 100 * k);
    const values = valuesOf(2_000, () => noise());
    values[700] = glitch;
    for (const at of spikes) values[at] += at % 200 === 8 ? 8 : -8;
    const scores = await score(values);
    assert.equal(scores[700].anomaly, true);
    assert.deepEqual(
      spikes.filter((at) => scores[at].anomaly && scores[at].grade! > 0.45),
      spikes,
    );
  });
}

test('a new level is normal after five detection windows, however far it is', async () => {
  for (const size of [10, 1e4]) {
    const noise = noiseOf(9);
    const scores = await score(valuesOf(1_200, (i) => noise() + (i >= 720 ? size : 0)));
    assert.ok(flaggedBetween(scores, 720, 744) >= 20, `level ${size} was not noticed`);
    assert.ok(flaggedBetween(scores, 840, 1_200) <= 20, `level ${size}: ${flaggedBetween(scores, 840, 1_200)} flags`);
  }
});

test('the last steps of the horizon are flagged about as often as the first', async () => {
  const flags = { early: 0, late: 0 };
  for (let seed = 100; seed < 106; seed++) {
    const noise = noiseOf(seed);
    let level = 0;
    const scores = await score(
      valuesOf(2_400, () => {
        level += noise();
        return level;
      }),
    );
    for (const { anomaly, state, position } of scores) {
      if (state !== 'scored' || !anomaly) continue;
      if (position % 24 < 4) flags.early++;
      if (position % 24 >= 20) flags.late++;
    }
  }
  assert.ok(flags.early > 0 && flags.late < 8 * flags.early, JSON.stringify(flags));
});

test('score and flag agree', async () => {
  const noise = noiseOf(8);
  const scores = await score(valuesOf(1_200, (i) => noise() ** 3 + 3 * Math.sin(i / 5) + (i % 97 === 0 ? 7 : 0)));
  const threshold = twoSidedThreshold(99);
  for (const { state, anomaly, anomalyScore, position } of scores) {
    if (state === 'scored') assert.equal(anomaly, Math.abs(anomalyScore!) > threshold, `position ${position}`);
  }
});

test('a first value of 2^31 - 1 does not hide the series that follows', async () => {
  const noise = noiseOf(4);
  const spikes = [500, 550, 601, 677, 733];
  const values = valuesOf(800, (i) => (i === 0 ? 2 ** 31 - 1 : 20 + 0.3 * noise()));
  for (const at of spikes) values[at] += 5;
  const scores = await score(values);
  assert.deepEqual(
    spikes.filter((at) => scores[at].anomaly && scores[at].grade! > 0.5),
    spikes,
  );
});

test('at a horizon of 1 the value after a spike is no echo of it', async () => {
  let [spikes, echoes] = [0, 0];
  for (let seed = 50; seed < 53; seed++) {
    const noise = noiseOf(seed);
    const at = valuesOf(6, (k) => 650 + 101 * k);
    const values = valuesOf(1_300, () => noise());
    for (const i of at) values[i] += 12;
    const scores = await score(values, { h: 1, detectionSize: 24 });
    spikes += at.filter((i) => scores[i].anomaly).length;
    echoes += at.filter((i) => scores[i + 1].anomaly).length;
  }
  assert.equal(spikes, 18);
  assert.ok(echoes <= 2, `${echoes} echoes of ${spikes} spikes`);
});

test('early cutoffs do not widen the intervals of a clean season', async () => {
  const noise = noiseOf(1);
  const values = valuesOf(312, (i) => 10 * Math.sin((2 * Math.PI * i) / 24) + 0.5 * noise());
  const widthOf = async (length: number) => {
    const [{ lo, hi }] = await detect([values.slice(-length)], { h: 24, detectionSize: 24 });
    return hi.reduce((sum, bound, k) => sum + bound - lo[k], 0) / hi.length;
  };
  // 288 values leave a first forecast of 24 values; 304 leave one of 40.
  const [early, later] = [await widthOf(288), await widthOf(304)];
  assert.ok(early < 1.25 * later, `${early} beside ${later}`);
});

test('a group does not dilute what one member shows: a spike on a weekly sine is flagged', async () => {
  const noise = noiseOf(2);
  const series = [0, 1].map((shift) =>
    valuesOf(100, (i) => 10 + 10 * Math.sin((2 * Math.PI * (i + shift)) / 7) + 0.3 * noise()),
  );
  series[0][95] += 10;
  const settings = { h: 20, detectionSize: 20, thresholdMethod: 'multivariate' } as const;
  const [spiked, beside] = await detect(series, settings);
  assert.ok(spiked.accumulatedScore![15] > 2.33, `${spiked.accumulatedScore![15]}`);
  assert.deepEqual([spiked.anomaly[15], beside.anomaly[15]], [true, true]);
});
