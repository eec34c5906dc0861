/** What judging alarms costs: the stream's speed and the memory of a series, with it and without. */
import type { Figures } from '../bench.ts';
import { runChild } from '../child.ts';
import { makeTopics, withBroker } from '../local-broker.ts';
import type { HeldMemory, MemoryOptions } from '../memory-process.ts';
import { seedChangelog, seedOf } from '../seeded-changelog.ts';
import { engineOptions, feedObservations, measureEngine } from '../stream.ts';
import { type Cell, printTable, rounded } from '../table.ts';

const SERIES = 1_000;
const DETECTION_SIZE = 24;
const STEPS = 384;
/** On a machine that does other things too, the best of a few rounds, taken in turns, says the most. */
const ROUNDS = 3;
/** As the bench `memory`: up to the first of them buffers of the process grow too, which later series share. */
const MEMORY_COUNTS = [10_000, 100_000] as const;

export async function priceFigures(rounds = ROUNDS): Promise<Figures> {
  const [on, off] = await streamSpeeds(rounds);
  const [bytesOn, bytesOff] = [await bytesPerSeries(true), await bytesPerSeries(false)];
  const rows: Cell[][] = [
    ['on', on.perSecond, on.cpuMicros, bytesOn],
    ['off', off.perSecond, off.cpuMicros, bytesOff],
  ];
  const columns = ['alarms', 'stream, observations/s', 'processor us each', 'live bytes of one more series'];
  printTable('the price of alarms', columns, rows);
  return {
    stream_ratio: rounded(on.perSecond / off.perSecond),
    stream_cpu_ratio: rounded(off.cpuMicros / on.cpuMicros),
    bytes_per_series: rounded(bytesOn),
    bytes_per_series_off: rounded(bytesOff),
  };
}

interface StreamSpeed {
  readonly perSecond: number;
  /** Processor time of an observation. */
  readonly cpuMicros: number;
}

function streamSpeeds(rounds: number): Promise<[on: StreamSpeed, off: StreamSpeed]> {
  return withBroker(async (connection) => {
    const seed = seedOf(SERIES, DETECTION_SIZE, true);
    const input = await makeTopics(connection, 'price');
    await feedObservations(connection, input, seed, STEPS);
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      for (const alarms of round % 2 === 0 ? [true, false] : [false, true]) {
        const topics = await makeTopics(connection, `price-${round}-${alarms}`, { observations: input.observations });
        runs.push({ alarms, topics });
      }
    }
    for (const alarms of [true, false]) {
      const changelogs = runs.filter((run) => run.alarms === alarms).map(({ topics }) => topics.changelog);
      await seedChangelog(connection, changelogs, { ...seed, alarms }, 'compacted');
    }
    const speeds: { readonly on: StreamSpeed[]; readonly off: StreamSpeed[] } = { on: [], off: [] };
    for (const { alarms, topics } of runs) {
      const options = engineOptions(connection, topics, 'tsmodel-1-detection', DETECTION_SIZE, SERIES * STEPS);
      const { observations, seconds, cpuSeconds } = await measureEngine({ ...options, alarms });
      const speed = { perSecond: observations / seconds, cpuMicros: (1e6 * cpuSeconds) / observations };
      speeds[alarms ? 'on' : 'off'].push(speed);
    }
    return [best(speeds.on), best(speeds.off)];
  });
}

function best(speeds: readonly StreamSpeed[]): StreamSpeed {
  return {
    perSecond: Math.max(...speeds.map(({ perSecond }) => perSecond)),
    cpuMicros: Math.min(...speeds.map(({ cpuMicros }) => cpuMicros)),
  };
}

/** What one more series takes. */
async function bytesPerSeries(alarms: boolean): Promise<number> {
  const [few, many] = MEMORY_COUNTS;
  const held = (seriesCount: number) => {
    const options: MemoryOptions = { seriesCount, alarms };
    return runChild<HeldMemory>('memory-process.ts', options);
  };
  return ((await held(many)).liveBytes - (await held(few)).liveBytes) / (many - few);
}
