/** The time of a restore: reading the changelog from Kafka twice, and filling every ring. */

import { createKafkaLog } from '../../src/engine/log/kafka-log.ts';
import { PartitionState } from '../../src/engine/state/partition-state.ts';
import { restorePartition } from '../../src/engine/state/restore-partition.ts';
import type { Figures } from './bench.ts';
import { FREE_FORECASTER, loadedBenchDetector } from './bench-detector.ts';
import { makeTopics, PARTITIONS, withBroker } from './local-broker.ts';
import { seedChangelog, seedOf } from './seeded-changelog.ts';
import { printTable, rounded } from './table.ts';

const DETECTION_SIZE = 24;
const ROUNDS = 3;

/** @param args number of series, by default 10,000 */
export async function run(args: readonly string[]): Promise<Figures> {
  const seriesCount = Number(args[0] ?? 10_000);
  const seed = seedOf(seriesCount, DETECTION_SIZE, true);
  const loaded = loadedBenchDetector(seed, FREE_FORECASTER);
  return withBroker(async (connection) => {
    const topics = await makeTopics(connection, 'restore');
    const { records, bytes } = await seedChangelog(connection, [topics.changelog], seed, 'written');
    const seconds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const log = createKafkaLog({ ...connection, topics, groupId: 'restore', sessionMs: 10_000 });
      const place = (partition: number) => ({ topic: topics.observations, partition });
      const sessions = await Promise.all(Array.from({ length: PARTITIONS }, (_, each) => log.openPartition(each)));
      const startedMs = performance.now();
      const restored = await Promise.all(
        sessions.map(async (session) => {
          const state = new PartitionState(place(session.partition), seriesCount);
          await restorePartition(session, state, { detectorOf: () => loaded, detectorNamed: new Map() });
          return state.units.size;
        }),
      );
      seconds.push((performance.now() - startedMs) / 1_000);
      await log.close();
      const units = restored.reduce((sum, each) => sum + each, 0);
      if (units !== seriesCount) throw new Error(`${units} of ${seriesCount} series were restored`);
    }
    const rows = seconds.map((each, round) => [round + 1, seriesCount, records, bytes / 1e6, each]);
    printTable(`restore of ${PARTITIONS} partitions`, ['round', 'series', 'records', 'MB', 'seconds'], rows);
    return {
      series: seriesCount,
      restore_s: rounded(Math.min(...seconds)),
      first_restore_s: rounded(seconds[0]),
      changelog_mb: rounded(bytes / 1e6),
    };
  });
}
