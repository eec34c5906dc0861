import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Worker } from '../../../src/engine/stream-worker.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import {
  detectorConfig,
  groupDetector,
  observationRecord,
  streamRun,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';
import { virtualTime } from '../../fixture/virtual-time.ts';

const PARTITIONS = 3;
const SERIES = 4;
const STEPS = 56;
const WORKERS_MAX = 3;
/** Virtual time: what is not scored after it is stuck. */
const SETTLED_MS_MAX = 120_000;
/** `SIMULATION_SEEDS=5000` runs thousands; `SIMULATION_SEED` replays one. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 100);

/** The last two series are a group, of which both are needed to score a step. */
const DETECTORS = [groupDetector({ calibrationSize: 28 }, { name: 'grouped', series: ['s2', 's3'] }), detectorConfig()];

const INPUT = Array.from({ length: STEPS * SERIES }, (_, i) => {
  const [step, which] = [Math.floor(i / SERIES), i % SERIES];
  const group = which < 2 ? undefined : 'g';
  const value = ((step * 7 + which) % 11) / 3;
  return { partition: Math.min(which, PARTITIONS - 1), ...observationRecord(`s${which}`, step, value, group) };
});

const scoresOf = (broker: MemoryBroker): ScoreRecord[] =>
  Array.from({ length: PARTITIONS }, (_, partition) => broker.read(TOPICS.scores, partition))
    .flat()
    .map(({ value }) => JSON.parse(String(value)) as ScoreRecord);

const PARTITION_NUMBERS = Array.from({ length: PARTITIONS }, (_, partition) => partition);
const countOf = (broker: MemoryBroker) =>
  PARTITION_NUMBERS.reduce((sum, partition) => sum + broker.read(TOPICS.scores, partition).length, 0);

async function simulate(seed: number): Promise<ScoreRecord[]> {
  const random = seededRandom(seed);
  const below = (max: number) => Math.floor(random() * max);
  const time = virtualTime(['setTimeout', 'setImmediate']);
  const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 1 + below(4)));
  const broker = new MemoryBroker(TOPICS, PARTITIONS, turn);
  const run = streamRun({ broker, partitions: PARTITIONS, detectors: DETECTORS, nowMs: () => 2e12 });
  const workers: Worker[] = [];
  const ending: Promise<unknown>[] = [];
  const learns: (() => void)[] = [];
  let away = false;
  let failure: Error | null = null;
  const begin = () => {
    ending.push(
      run.start().then((worker) => {
        workers.push(worker);
        void worker.finished.then((error) => {
          failure ??= error;
        });
      }),
    );
  };
  const faults: readonly (() => unknown)[] = [
    () => broker.failNextCommit(random() < 0.5 ? 'before' : 'after'),
    () => broker.rebalance(),
    () => workers.length < WORKERS_MAX && begin(),
    () => workers.length > 1 && ending.push(workers.splice(below(workers.length), 1)[0].stop()),
    () => workers.length > 1 && learns.length === 0 && learns.push(broker.expelOldest()),
    () => learns.shift()?.(),
    () => broker.moveOffset(below(PARTITIONS), random() < 0.5 ? null : 0),
    () => {
      if (away) broker.reconnect();
      else broker.disconnect();
      away = !away;
    },
  ];
  try {
    begin();
    let fed = 0;
    while (fed < INPUT.length) {
      await time.advance();
      if (random() < 0.5) {
        const { partition, key, value } = INPUT[fed++];
        broker.append(partition, key, value);
      }
      if (random() < 0.02) faults[below(faults.length)]();
    }
    if (away) broker.reconnect();
    for (const learn of learns) learn();
    const isScored = () => countOf(broker) >= INPUT.length;
    for (const endMs = time.nowMs() + SETTLED_MS_MAX; !isScored() && failure === null; await time.advance(10)) {
      assert.ok(time.nowMs() < endMs, `only ${countOf(broker)} of ${INPUT.length} records are scored`);
    }
    assert.equal(failure, null);
    let stopped = false;
    const stopping = Promise.all(ending).then(() => Promise.all(workers.map((worker) => worker.stop())));
    void stopping.then(() => {
      stopped = true;
    });
    while (!stopped) await time.advance(10);
    assert.deepEqual(run.deadLetters(), []);
    return scoresOf(broker);
  } finally {
    time.restore();
  }
}

/** The same records, one worker, no fault. */
async function undisturbed(): Promise<ScoreRecord[]> {
  const run = streamRun({ partitions: PARTITIONS, detectors: DETECTORS, nowMs: () => 2e12 });
  for (const { partition, key, value } of INPUT) run.broker.append(partition, key, value);
  await run.scoreAll();
  return scoresOf(run.broker);
}

test('whatever happens to a group of workers, each record is scored once, to the same numbers', async (t: TestContext) => {
  const expected = await undisturbed();
  assert.ok(expected.some(({ state }) => state === 'scored'));
  const replayed = process.env.SIMULATION_SEED;
  const first = replayed === undefined ? Date.now() % 1_000_000_000 : Number(replayed);
  const seeds = replayed === undefined ? SEEDS : 1;
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      assert.deepEqual(await simulate(seed), expected);
    } catch (error) {
      assert.fail(`SIMULATION_SEED=${seed} fails: ${error instanceof Error ? error.message : error}`);
    }
  }
  t.diagnostic(`${seeds} seeds from ${first}`);
});
