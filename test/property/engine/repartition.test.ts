import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../src/config/config.ts';
import { repartition, whyNotMoved } from '../../../src/engine/offline/repartition.ts';
import { restoreForTools } from '../../../src/engine/offline/state-tools.ts';
import { keyPartitioner } from '../../../src/kafka/produce/key-partition.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  detectorConfig,
  groupDetector,
  loadArithmetic,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';

const configs = [
  groupDetector({ calibrationSize: 28, gapLimit: 5, grace: 2 }, { name: 'racks', series: ['rack-*'] }),
  detectorConfig({ settings: streamSettings({ gapLimit: 16, calibrationSize: 28, latenessMs: 120_000 }) }),
];
/** Under these settings every state is calibrated again from its values. */
const changed = configs.map((config) => ({ ...config, settings: { ...config.settings, calibrationSize: 36 } }));
/** Of states without open events: only a worker closes those. */
const quiet = (chosen: readonly DetectorConfig[]) =>
  chosen.map((config) => ({ ...config, settings: { ...config.settings, alarmRate: null } }));

function lookupOf(chosen: readonly DetectorConfig[]) {
  const [racks, others] = chosen.map((config) => loadArithmetic(config));
  return {
    detectorOf: (series: string) => (series.startsWith('rack-') ? racks : others),
    detectorNamed: new Map([racks, others].map((one) => [one.config.name, one])),
  };
}

type InputRecord = ReturnType<typeof observationRecord>;

function append(broker: MemoryBroker, records: readonly InputRecord[], partitions: number): void {
  const partitionOf = keyPartitioner(partitions);
  for (const { key, value } of records) broker.append(partitionOf(key), key, value);
}

async function scored(broker: MemoryBroker, chosen: readonly DetectorConfig[] = configs) {
  const run = streamRun({ detectors: chosen, partitions: broker.partitions, broker });
  await run.scoreAll();
  return Array.from({ length: broker.partitions }, (_, partition) => run.scores(partition)).flat();
}

function planOf(before: number, partitions: number, chosen = configs) {
  const [now, then] = [keyPartitioner(before), keyPartitioner(partitions)];
  return { ...lookupOf(chosen), partitions, before: now, after: then, topics: TOPICS, version: 0 };
}

/** The state of `before` among so many partitions, and its input records where they are. */
async function repartitioned(before: MemoryBroker, partitions: number, chosen = configs): Promise<MemoryBroker> {
  const log = before.openLog();
  const sources = await Promise.all(
    Array.from({ length: before.partitions }, async (_, partition) =>
      restoreForTools(await log.openPartition(partition), TOPICS.observations, lookupOf(chosen)),
    ),
  );
  const plan = planOf(before.partitions, partitions, chosen);
  assert.deepEqual(whyNotMoved(sources, plan), []);
  const moved = await repartition(sources, plan);
  const after = new MemoryBroker(TOPICS, partitions);
  for (let partition = 0; partition < before.partitions; partition++) {
    for (const { key, value } of before.read(TOPICS.observations, partition)) after.append(partition, key, value);
    const session = await after.openLog().openPartition(partition);
    const changelog = before.read(TOPICS.changelog, partition).map((record) => {
      return { ...record, topic: TOPICS.changelog, partition };
    });
    await session.commit(changelog, before.committedOffset(partition));
    if (partition === before.partitions - 1) await session.commit(moved, before.committedOffset(partition));
    await session.close();
  }
  return after;
}

/** By series and time, without where the input record is. */
function judged(scores: readonly ScoreRecord[]) {
  return new Map(
    scores
      .map(({ input: _, ...score }) => [`${score.series} ${score.timestampMs}`, score] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function assertPlaces(scores: readonly ScoreRecord[], broker: MemoryBroker): void {
  for (const { input, series, timestampMs } of scores) {
    const { value } = broker.read(TOPICS.observations, input.partition)[input.offset];
    const read = JSON.parse(value!.toString());
    assert.deepEqual([read.series, read.timestamp], [series, timestampMs]);
  }
}

const SERIES = ['web-1', 'web-2', 'db', 'cache', 'queue'];
const RACKS = ['a', 'b', 'c'];

/** Observations of every step, some missing, some of groups a step late. */
const rows = fc.array(
  fc.record({
    values: fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 11, maxLength: 11 }),
    late: fc.constantFrom(0, 0, 0, 1),
    gone: fc.constantFrom(-1, -1, -1, 2, 7, 9),
  }),
  { minLength: 70, maxLength: 110 },
);

function recordsOf(chosen: readonly { values: number[]; late: number; gone: number }[]): InputRecord[] {
  return chosen.flatMap(({ values, late, gone }, step) => {
    const own = SERIES.map((series, i) => observationRecord(series, i === 3 ? step - late : step, values[i]));
    const members = RACKS.flatMap((rack, i) =>
      [0, 1].map((member) => {
        const at = member === 1 ? Math.max(0, step - late) : step;
        return observationRecord(`rack-${rack}${member}`, at, values[SERIES.length + 2 * i + member], rack);
      }),
    );
    return [...own, ...members].filter((_, i) => i !== gone);
  });
}

test('after a move to more partitions every series and group scores as if nothing had happened', async () => {
  const counts = fc.record({ before: fc.integer({ min: 1, max: 3 }), more: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(rows, counts, fc.double({ min: 0.1, max: 0.9, noNaN: true }), async (chosen, count, share) => {
      const records = recordsOf(chosen);
      const end = Math.floor(records.length * share);
      const whole = new MemoryBroker(TOPICS, count.before);
      append(whole, records, count.before);
      const expected = await scored(whole);

      const before = new MemoryBroker(TOPICS, count.before);
      append(before, records.slice(0, end), count.before);
      const early = await scored(before);
      // Twice: what moved can move again.
      const between = await repartitioned(before, count.before + count.more);
      const after = await repartitioned(between, count.before + count.more + 2);
      append(after, records.slice(end), after.partitions);
      const late = await scored(after);
      assertPlaces(late, after);
      assert.deepEqual(judged([...early, ...late]), judged(expected));
      assert.equal(early.length + late.length, expected.length);
    }),
    { numRuns: 25 },
  );
});

test('what waits under other settings moves with its values, and begins with them where it is then', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.double({ min: 0.5, max: 0.9, noNaN: true }), async (chosen, share) => {
      const [first, second] = [quiet(configs), quiet(changed)];
      const records = recordsOf(chosen);
      const end = Math.floor(records.length * share);
      const [unmoved, before] = [new MemoryBroker(TOPICS, 2), new MemoryBroker(TOPICS, 2)];
      for (const broker of [unmoved, before]) {
        append(broker, records.slice(0, end), 2);
        await scored(broker, first);
      }
      append(unmoved, records.slice(end), 2);
      const expected = judged(await scored(unmoved, second));
      const after = await repartitioned(before, 5, second);
      append(after, records.slice(end), 5);
      const late = await scored(after, second);
      assertPlaces(late, after);
      assert.ok(late.length > 0);
      for (const [at, score] of judged(late)) assert.deepEqual(score, expected.get(at));
    }),
    { numRuns: 12 },
  );
});

test('series whose records have other keys than their ids are not moved', async () => {
  const broker = new MemoryBroker(TOPICS, 2);
  for (let step = 0; step < 3; step++) {
    const { value } = observationRecord('web-1', step, 1);
    broker.append(1 - keyPartitioner(2)(Buffer.from('web-1')), null, value);
  }
  await scored(broker);
  const log = broker.openLog();
  const sources = await Promise.all(
    [0, 1].map(async (partition) =>
      restoreForTools(await log.openPartition(partition), TOPICS.observations, lookupOf(configs)),
    ),
  );
  const [why] = whyNotMoved(sources, planOf(2, 3));
  assert.match(why, /^1 series or groups, "web-1" among them, are not in the partition of their id/);
});
