import { type DetectorConfig, type StreamConfig, settingsDigest, type Topics } from '../../src/config/config.ts';
import { alarmRateOf } from '../../src/detection/alarm/false-alarms.ts';
import { NO_RULES } from '../../src/detection/event/open/event-rules.ts';
import { type LoadedDetector, loadedDetector } from '../../src/engine/unit/loaded-detector.ts';
import type { Forecaster } from '../../src/forecasting/forecaster.ts';
import { meanStepMs, parseFrequency } from '../../src/time/frequency.ts';
import { UTC_CALENDAR } from '../../src/time/local-calendar.ts';
import { recordMapping } from '../fixture/stream/record-mapping.ts';

const DAY_MS = 86_400_000;

/** What benches vary of a detector. */
export interface BenchSettings {
  readonly detectionSize: number;
}

/** The settings that a detectors file gives when it names nothing but these. */
export function benchDetector({ detectionSize }: BenchSettings): DetectorConfig {
  const freq = parseFrequency('s')!;
  return {
    name: 'sensors',
    series: ['plant-*'],
    group: null,
    by: null,
    model: 'tsmodel-1-detection',
    events: NO_RULES,
    labels: {},
    settings: {
      h: detectionSize,
      detectionSize,
      stepSize: detectionSize,
      level: 99,
      thresholdMethod: 'univariate',
      calibration: 'robust',
      alarmRate: alarmRateOf({}, freq),
      profile: { calendar: UTC_CALENDAR, stepMs: meanStepMs(freq) },
      calibrationSize: 12 * detectionSize,
      context: 512,
      freq,
      gapLimit: 512,
      jitterMs: 0,
      latenessMs: 0,
      silenceAfter: 300,
      idleMs: 7 * DAY_MS,
      grace: 1,
    },
  };
}

/** Under one digest whatever the model, so that every variant takes up the same state. */
export function loadedBenchDetector(settings: BenchSettings, forecaster: Forecaster): LoadedDetector {
  const config = benchDetector(settings);
  return loadedDetector(config, { forecaster, digest: 'bench'.repeat(13).slice(0, 64) }, settingsDigest(config));
}

export function benchStream(topics: Topics, groupId: string, settings: BenchSettings): StreamConfig {
  return {
    groupId,
    groupInstanceId: null,
    topics,
    input: recordMapping({ futureMsMax: DAY_MS }),
    earlierChangelog: null,
    output: { format: 'json', compression: 'none', timestamps: 'event-time', headers: [] },
    detectors: [benchDetector(settings)],
  };
}

/** A model that costs nothing: the last value. */
export const FREE_FORECASTER: Forecaster = {
  limits: { context: 512, contextBuckets: [64, 128, 256, 512], horizonMax: 128 },
  forecast({ rows, contextLength, horizon, values }) {
    const medians = new Float32Array(rows * horizon);
    for (let row = 0; row < rows; row++) {
      medians.fill(values[(row + 1) * contextLength - 1], row * horizon, (row + 1) * horizon);
    }
    return Promise.resolve(medians);
  },
};
