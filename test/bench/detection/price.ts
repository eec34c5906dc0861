/** What judging alarms costs: the stream's speed and the memory of a series, with it and without. */
import type { Figures } from '../bench.ts';
import { runChild } from '../child.ts';
import type { EngineOptions } from '../engine-process.ts';
import { makeTopics, withBroker } from '../local-broker.ts';
import type { HeldMemory } from '../memory-process.ts';
import { seedChangelog, seedOf } from '../seeded-changelog.ts';
import { engineOptions, feedObservations, measureEngine } from '../stream.ts';
import { type Cell, printTable, rounded } from '../table.ts';

const SERIES = 1_000;
const DETECTION_SIZE = 24;
const STEPS = 384;
/** On a machine that does other things too, the best of a few rounds, taken in turns, says the most. */
const ROUNDS = 3;
const MEMORY_COUNTS = [1_000, 10_000] as const;

/** Goes to the children beside their other options. */
interface AlarmOption {
  readonly alarms: boolean;
}

export async function priceFigures(rounds = ROUNDS): Promise<Figures> {
  const [on, off] = await streamSpeeds(rounds);
  const [bytesOn, bytesOff] = [await bytesPerSeries(true), await bytesPerSeries(false)];
  const rows: Cell[][] = [
    ['on', on, bytesOn],
    ['off', off, bytesOff],
  ];
  printTable('the price of alarms', ['alarms', 'stream, observations/s', 'live bytes of one more series'], rows);
  return {
    stream_ratio: rounded(on / off),
    bytes_per_series: rounded(bytesOn),
    bytes_per_series_off: rounded(bytesOff),
  };
}

function streamSpeeds(rounds: number): Promise<[on: number, off: number]> {
  return withBroker(async (connection) => {
    const seed = seedOf(SERIES, DETECTION_SIZE, true);
    const input = await makeTopics(connection, 'price');
    await feedObservations(connection, input, seed, STEPS);
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      for (const alarms of [true, false]) {
        const topics = await makeTopics(connection, `price-${round}-${alarms}`, { observations: input.observations });
        runs.push({ alarms, topics });
      }
    }
    const changelogs = runs.map(({ topics }) => topics.changelog);
    await seedChangelog(connection, changelogs, seed, 'compacted');
    const best = { on: 0, off: 0 };
    for (const { alarms, topics } of runs) {
      const options: EngineOptions & AlarmOption = {
        ...engineOptions(connection, topics, 'tsmodel-1', DETECTION_SIZE, SERIES * STEPS),
        alarms,
      };
      const { observations, seconds } = await measureEngine(options);
      const key = alarms ? 'on' : 'off';
      best[key] = Math.max(best[key], observations / seconds);
    }
    return [best.on, best.off];
  });
}

/** What one more series takes. */
async function bytesPerSeries(alarms: boolean): Promise<number> {
  const [few, many] = MEMORY_COUNTS;
  const held = (seriesCount: number) => {
    const options: { readonly seriesCount: number } & AlarmOption = { seriesCount, alarms };
    return runChild<HeldMemory>('memory-process.ts', options);
  };
  return ((await held(many)).liveBytes - (await held(few)).liveBytes) / (many - few);
}
