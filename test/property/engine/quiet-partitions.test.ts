import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsDigest } from '../../../src/config/config.ts';
import { DetectorTimes } from '../../../src/engine/arrival/detector-times.ts';
import type { RoutedObservation } from '../../../src/engine/arrival/routed-observation.ts';
import { QuietPartition } from '../../../src/engine/commit/quiet-partition.ts';
import { PartitionState } from '../../../src/engine/state/partition-state.ts';
import { loadedDetector } from '../../../src/engine/unit/loaded-detector.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { recordingSink } from '../../fixture/stream/recording-sink.ts';
import { detectorConfig, START_MS, STEP_MS, streamSettings } from '../../fixture/stream/stream-run.ts';

const { signal } = new AbortController();
const SILENCE_AFTER = 5;
const settings = streamSettings({ context: 300, gapLimit: 300, silenceAfter: SILENCE_AFTER });
const config = detectorConfig({ settings });
const loaded = loadedDetector(config, { forecaster: arithmeticForecaster(), digest: 'a' }, settingsDigest(config));
const PARTITIONS = 4;
const STOPS_MAX = 60;
const STEPS = STOPS_MAX + 30;

/** A partition of a log whose broker may be away; records that are sent meanwhile are read afterwards. */
class ReadPartition {
  readonly #partition: number;
  readonly #times: DetectorTimes;
  readonly #quiet: QuietPartition;
  readonly #state: PartitionState;
  #waiting: RoutedObservation[] = [];
  #end: { answers: number } | null = null;
  readonly sink = recordingSink();
  #offset = 0;

  constructor(partition: number, nowMs: () => number, times: DetectorTimes) {
    this.#partition = partition;
    this.#times = times;
    this.#state = new PartitionState({ topic: 'observations', partition }, 10);
    this.#quiet = new QuietPartition({ partition, nowMs, times, inputEnd: () => this.#end });
  }

  send(series: readonly string[], step: number): void {
    for (const one of series) {
      const timestampMs = START_MS + step * STEP_MS;
      const record = { partition: this.#partition, offset: this.#offset++, timestampMs, key: null, value: null };
      this.#waiting.push({ series: one, group: null, timestampMs, value: step % 3, record, loaded });
    }
  }

  async read(isReadable: boolean): Promise<void> {
    if (isReadable) this.#end ??= { answers: 0 };
    else this.#end = null;
    const read = isReadable ? this.#waiting.splice(0) : [];
    if (read.length > 0) {
      await this.#state.score(read, this.sink, signal);
      this.#times.reach(this.#partition, read, this.#state.watermark.ms);
      this.#quiet.reset();
    }
    for (let turns = 0; turns < 12; turns++) {
      if (this.#end !== null) this.#end.answers++;
      const outlet = { offset: this.#offset, sink: this.sink };
      if ((this.#quiet.waitMs ?? 1) <= 0) await this.#quiet.report(this.#state, outlet, signal);
    }
  }

  get isPaused(): boolean {
    return this.#state.pauses.any;
  }
}

const world = fc.record({
  /** By series, the step of its first missing record; those of a partition share its remainder. */
  stops: fc.array(fc.oneof(fc.integer({ min: 12, max: STOPS_MAX }), fc.constant(STEPS)), {
    minLength: 8,
    maxLength: 16,
  }),
  /** All others stop with it. */
  total: fc.oneof(fc.constant(STEPS), fc.integer({ min: 12, max: STOPS_MAX })),
  away: fc.array(
    fc.record({
      partition: fc.nat(PARTITIONS - 1),
      from: fc.integer({ min: 0, max: STEPS - 20 }),
      steps: fc.integer({ min: 1, max: 20 }),
    }),
    { maxLength: 5 },
  ),
});

test('series that stop are silent, or in a pause of their partition, and no other series is, whoever is away', async () => {
  let [alone, paused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(world, async ({ stops: own, total, away }) => {
      const stops = own.map((step) => Math.min(step, total));
      let nowMs = 0;
      const times = new DetectorTimes(() => nowMs);
      const partitions = Array.from({ length: PARTITIONS }, (_, i) => new ReadPartition(i, () => nowMs, times));
      const of = (partition: number) => stops.map((_, i) => i).filter((i) => i % PARTITIONS === partition);
      for (let half = 0; half < 2 * STEPS; half++) {
        const step = half >> 1;
        nowMs += STEP_MS / 2;
        for (const [at, partition] of partitions.entries()) {
          const sent = half % 2 === 1 ? [] : of(at).filter((i) => step < stops[i]);
          partition.send(sent.map(String), step);
          const isAway = away.some((one) => one.partition === at && step >= one.from && step < one.from + one.steps);
          await partition.read(!isAway);
          for (const series of partition.sink.silent)
            assert.ok(step - stops[Number(series)] >= SILENCE_AFTER - 1, `${series} at step ${step}`);
        }
      }
      for (const [at, { sink, isPaused }] of partitions.entries()) {
        const stopped = of(at).filter((i) => stops[i] < STEPS);
        if (isPaused) paused++;
        else assert.deepEqual(sink.silent.map(Number).sort(), stopped.sort(), `partition ${at}`);
        if (stopped.length === of(at).length) alone += sink.silent.length;
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(alone > 0 && paused > 0, `${alone} silent where all of the partition stopped, ${paused} pauses`);
});
