/**
 * Restores series with full rings into so many partitions, scores some steps of them, and reports what it took. Without
 * a broker, on a model that costs nothing: what is left is state, alarms, scores as JSON, and the changelog.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Forecaster } from '../../src/forecast/forecaster.ts';
import type { Journal } from '../../src/stream/changelog/journal.ts';
import { createScoreEncoder } from '../../src/stream/codec/score-encoder.ts';
import { PendingCommit } from '../../src/stream/engine/commit/pending-commit.ts';
import { PartitionState } from '../../src/stream/engine/state/partition-state.ts';
import { restorePartition } from '../../src/stream/engine/state/restore-partition.ts';
import type { OutputRecord, PartitionSession } from '../../src/stream/log/log.ts';
import { boundBenchDetector, FREE_FORECASTER } from './bench-detector.ts';
import { childOptions, report, stopAsked } from './child.ts';
import { PARTITIONS } from './local-broker.ts';
import { seededPartition, seedOf } from './seeded-changelog.ts';
import { START_MS, STEP_MS, seriesId, valueAt } from './synthetic-series.ts';

export interface GrowthOptions {
  readonly seriesCount: number;
  readonly partitions: number;
}

export interface Growth {
  /** Objects and buffers of all partitions. */
  readonly liveBytes: number;
  /** Processor time of one observation, and what it writes. */
  readonly observationMicros: number;
  readonly changelogBytes: number;
  readonly scoreBytes: number;
  /** Processor time of the restore, and the compacted changelog, of all partitions. */
  readonly restoreSeconds: number;
  readonly stateBytes: number;
}

const DETECTION_SIZE = 24;
/** Season of the series, in steps. */
const DAY = 24;
/** Series that are computed; the others are copies of them under other names. */
const COMPUTED_MAX = 1_000;
/** Every so many series of the seeded ones is in the partition that is computed. */
const EVERY = PARTITIONS;
/**
 * Observations that are measured at least, and so many before them that are not: the collection before the live bytes
 * are counted throws compiled code away. Whole windows, so that each closes as often as in a long run.
 */
const OBSERVATIONS_MIN = 100_000;
const OBSERVATIONS_PER_COMMIT = 5_000;
const TOPICS = { observations: 'o', scores: 's', events: 'e', changelog: 'c', deadLetters: 'd' };
/** The last day again: as good as a model here, so that events are as rare as usual. */
const SEASONAL_FORECASTER: Forecaster = {
  ...FREE_FORECASTER,
  forecast({ rows, contextLength, horizon, values }) {
    const medians = new Float32Array(rows * horizon);
    for (let i = 0; i < medians.length; i++) {
      const [row, step] = [Math.floor(i / horizon), i % horizon];
      medians[i] = values[(row + 1) * contextLength - DAY + (step % DAY)];
    }
    return Promise.resolve(medians);
  },
};
const { seriesCount, partitions } = childOptions<GrowthOptions>();
const stopping = stopAsked();
setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options: object) => void;

const perPartition = seriesCount / partitions;
const computed = Math.min(perPartition, COMPUTED_MAX);
const seed = seedOf(computed, DETECTION_SIZE, true);
const bound = boundBenchDetector(seed, SEASONAL_FORECASTER);
const template = await compacted();
const encodeScore = await createScoreEncoder('json', { topic: TOPICS.scores, registry: null } as never);
const before = liveBytes();
const held: { readonly state: PartitionState; readonly journal: Journal; readonly place: { partition: number } }[] = [];
let [restoreMicros, stateBytes] = [0, 0];
for (let partition = 0; partition < partitions; partition++) {
  const records = copies(partition);
  for (const { key, value } of records) stateBytes += key.length + value.length;
  const place = { topic: TOPICS.observations, partition };
  const state = new PartitionState(place, perPartition);
  const session = {
    committedOffset: null,
    inputTopicId: null,
    readChangelog: async (take: (key: Buffer, value: Buffer) => void) => {
      for (const { key, value } of records) take(key, value);
    },
  } as unknown as PartitionSession;
  const cpu = process.cpuUsage();
  const { journal } = await restorePartition(session, state, { detectorOf: () => bound, detectorNamed: new Map() });
  restoreMicros += microsSince(cpu);
  if (state.units.size !== perPartition) throw new Error(`${state.units.size} series of ${perPartition} were restored`);
  held.push({ state, journal, place });
}
const live = liveBytes() - before;
const windows = Math.ceil(OBSERVATIONS_MIN / (seriesCount * DETECTION_SIZE));
const measuredFrom = seed.steps + windows * DETECTION_SIZE;
let [micros, observed, changelogBytes, scoreBytes] = [0, 0, 0, 0];
for (let step = seed.steps; step < measuredFrom + windows * DETECTION_SIZE; step++) {
  if (step === measuredFrom) [micros, observed, changelogBytes, scoreBytes] = [0, 0, 0, 0];
  for (const each of held) await score(each, step);
}
report({
  liveBytes: live,
  observationMicros: micros / observed,
  changelogBytes: changelogBytes / observed,
  scoreBytes: scoreBytes / observed,
  restoreSeconds: restoreMicros / 1e6,
  stateBytes,
} satisfies Growth);
await stopping;
process.disconnect();

async function score({ state, journal, place }: (typeof held)[number], step: number): Promise<void> {
  const format = { place: state.place, topics: TOPICS, encodeScore, encodeEvent: () => Buffer.alloc(0) };
  const first = place.partition * perPartition;
  const timestampMs = START_MS + step * STEP_MS;
  for (let from = 0; from < perPartition; from += OBSERVATIONS_PER_COMMIT) {
    const count = Math.min(OBSERVATIONS_PER_COMMIT, perPartition - from);
    const observations = Array.from({ length: count }, (_, i) => {
      const offset = step * perPartition + from + i;
      const record = { partition: place.partition, offset, timestampMs, key: null, value: null };
      const value = valueAt(EVERY * ((from + i) % computed), step);
      return { series: seriesId(first + from + i), group: null, timestampMs, value, record, bound };
    });
    const cpu = process.cpuUsage();
    const pending = new PendingCommit({ ...format, timestamps: 'event-time' }, () => 0, 0);
    await state.score(observations, pending, new AbortController().signal);
    const outputs = pending.outputs(journal, null);
    micros += microsSince(cpu);
    observed += count;
    for (const { topic, key, value } of outputs) {
      const bytes = (key?.length ?? 0) + (value?.length ?? 0);
      if (topic === TOPICS.changelog) changelogBytes += bytes;
      else if (topic === TOPICS.scores) scoreBytes += bytes;
    }
  }
}

/** The changelog of the computed series, the newest record of each key. */
async function compacted(): Promise<OutputRecord[]> {
  const newest = new Map<string, OutputRecord>();
  // The series of one partition of the seeded ones.
  const { commits } = seededPartition(0, { ...seed, seriesCount: EVERY * computed }, bound);
  for await (const outputs of commits) {
    for (const output of outputs) {
      // A key that is written again moves to the end of the log.
      newest.delete(output.key!.toString('latin1'));
      newest.set(output.key!.toString('latin1'), output);
    }
  }
  return [...newest.values()].filter(({ value }) => value !== null);
}

/** The same for all series of a partition, under their names, which are equally long. */
function copies(partition: number): { readonly key: Buffer; readonly value: Buffer }[] {
  const slotOf = (key: Buffer) => Number(/^j\/(\d+)$/.exec(key.toString('latin1'))?.[1] ?? Number.NaN);
  const slots = 1 + Math.max(...template.map(({ key }) => slotOf(key!)).filter((slot) => slot >= 0));
  return Array.from({ length: perPartition / computed }, (_, copy) => {
    const first = partition * perPartition + copy * computed;
    const renamed = (bytes: Buffer) => {
      const text = bytes
        .toString('latin1')
        .replace(/plant-\d\/sensor-(\d{6})/g, (_, id) => seriesId(first + id / EVERY));
      return Buffer.from(text, 'latin1');
    };
    return template.map(({ key, value }) => {
      const slot = slotOf(key!);
      const own = Number.isNaN(slot) ? renamed(key!) : Buffer.from(`j/${slot + copy * slots}`);
      return { key: own, value: renamed(value!) };
    });
  }).flat();
}

function liveBytes(): number {
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function microsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
