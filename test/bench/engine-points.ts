import { DeltaLog } from '../../src/checkpoint/delta-log.ts';
import { createRecordDecoder } from '../../src/codecs/observations/record-decoder.ts';
import { type DetectorConfig, settingsDigest } from '../../src/config/config.ts';
import { PendingCommit } from '../../src/engine/commit/pending-commit.ts';
import { scoreDecoded, toObservations } from '../../src/engine/commit/score-records.ts';
import type { InputRecord } from '../../src/engine/log/log.ts';
import { PartitionState } from '../../src/engine/state/partition-state.ts';
import { loadedDetector } from '../../src/engine/unit/loaded-detector.ts';
import { parseFrequency } from '../../src/time/frequency.ts';
import { TOPICS } from '../fixture/stream/stream-run.ts';
import { benchDetector, benchStream, FREE_FORECASTER } from './bench-detector.ts';
import { START_MS, valueAt } from './synthetic-series.ts';

const SERIES = 500;
/** Steps are a minute long. */
const STEP_MS = 60_000;
const NO_BYTES = Buffer.alloc(0);
const NEVER = new AbortController().signal;

/** Points a second of processor time, from records to what a transaction writes, with a model that costs nothing. */
export async function enginePointsPerSecond(pointsPerStep: number, steps: number): Promise<number> {
  const { settings, ...detector } = benchDetector({ detectionSize: 24, alarms: true });
  const freq = parseFrequency('min')!;
  const config: DetectorConfig = { ...detector, settings: { ...settings, freq, aggregate: 'mean' } };
  const loaded = loadedDetector(config, { forecaster: FREE_FORECASTER, digest: 'bench' }, settingsDigest(config));
  const { input } = benchStream(TOPICS, 'bench', { detectionSize: 24, alarms: true });
  const decoder = createRecordDecoder(input);
  const state = new PartitionState({ topic: TOPICS.observations, partition: 0 }, SERIES);
  const deltaLog = new DeltaLog();
  const nothing = () => NO_BYTES;
  const format = { place: state.place, topics: TOPICS, encodeScore: nothing, encodeEvent: nothing };
  const scoring = {
    decoder,
    splitter: null,
    detectorOf: () => loaded,
    places: new Map<string, number>(),
    nowMs: Date.now,
  };
  let offset = 0;
  let usedUs = 0;
  for (let at = 0; at < steps * pointsPerStep; at++) {
    const records = Array.from({ length: SERIES }, (_, i) => recordOf(offset++, i, at, STEP_MS / pointsPerStep));
    const before = process.cpuUsage();
    const pending = new PendingCommit({ ...format, timestamps: 'event-time' }, Date.now, offset);
    const decoded = await toObservations(records, { state, scoring });
    await scoreDecoded(decoded, { state, pending, signal: NEVER });
    pending.drain(deltaLog, null);
    const used = process.cpuUsage(before);
    usedUs += used.user + used.system;
  }
  return (SERIES * steps * pointsPerStep) / (usedUs / 1e6);
}

function recordOf(offset: number, series: number, at: number, everyMs: number): InputRecord {
  const id = `plant-${series}`;
  const timestamp = START_MS + at * everyMs;
  const value = Buffer.from(JSON.stringify({ series: id, timestamp, value: Number(valueAt(series, at).toFixed(4)) }));
  return { partition: 0, offset, timestampMs: timestamp, key: Buffer.from(id), value };
}
