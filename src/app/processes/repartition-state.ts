import type { RecordMapping, Topics } from '../../config/config.ts';
import { createKafkaLog } from '../../engine/log/kafka-log.ts';
import type { StreamLog } from '../../engine/log/log.ts';
import { type Repartition, repartition, whyNotMoved } from '../../engine/offline/repartition.ts';
import { type RestoredPartition, restoreForTools } from '../../engine/offline/state-tools.ts';
import type { DetectorLookup } from '../../engine/state/restore-partition.ts';
import { readConsumerGroup } from '../../kafka/admin/consumer-group.ts';
import { countPartitions, raisePartitions, readKeys } from '../../kafka/admin/raise-partitions.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import { keyPartitioner } from '../../kafka/produce/key-partition.ts';
import { type CommandIo, DONE, type ExitCode, FAILED } from '../../tools/terminal/command-io.ts';

const SESSION_MS = 10_000;
/** All state moves in one transaction. This is what brokers allow one to take, unless they are configured otherwise. */
const TRANSACTION_MS = 900_000;

interface RepartitionSource {
  readonly connection: KafkaConnection;
  readonly topics: Topics;
  readonly groupId: string;
  readonly lookup: DetectorLookup;
  readonly keyedBy: RecordMapping['keyedBy'];
}

/**
 * Moves the state of a stopped group to more partitions. Whenever it is ended, it can be run again:
 *
 *   changelog gets partitions -> all state moves in one transaction -> scores, events and input get partitions
 *
 * Until the last step a worker finds counts that differ, and refuses to start.
 */
export async function repartitionState(
  source: RepartitionSource,
  partitions: number,
  io: CommandIo,
): Promise<ExitCode> {
  const { connection, topics, groupId, lookup } = source;
  const counts = await countPartitions(connection, [topics.observations, topics.changelog]);
  const input = counts.get(topics.observations) ?? 0;
  const log = createKafkaLog({
    ...connection,
    log: () => {},
    topics,
    groupId,
    sessionMs: SESSION_MS,
    transactionMs: TRANSACTION_MS,
  });
  try {
    const known = await knownCount(log, topics, lookup);
    const from = known ?? Math.min(input, counts.get(topics.changelog) ?? input);
    const refusal = whyNotTo(partitions, { from, input });
    if (refusal !== null) return refuse([refusal], io);
    if (from < partitions) {
      const moved = await move({ source, log, from, created: counts.get(topics.changelog) ?? from }, partitions, io);
      if (!moved) return FAILED;
    }
    await raisePartitions(connection, [topics.scores, topics.events, topics.observations], partitions);
    io.out(`${topics.observations}, ${topics.scores}, ${topics.events}, ${topics.changelog}: ${partitions} partitions`);
    return DONE;
  } finally {
    await log.close();
  }
}

/** The partition count that the state was made for; null if there is no state. */
async function knownCount(log: StreamLog, topics: Topics, lookup: DetectorLookup): Promise<number | null> {
  const session = await log.openPartition(0);
  try {
    return (await restoreForTools(session, topics.observations, lookup)).restored.partitionCount;
  } finally {
    await session.close();
  }
}

function whyNotTo(
  partitions: number,
  { from, input }: { readonly from: number; readonly input: number },
): string | null {
  if (partitions < Math.max(from, input)) {
    return `Kafka topics never get fewer partitions: there are ${Math.max(from, input)} already`;
  }
  if (input !== from && input !== partitions) {
    return `The input has ${input} partitions and its state ${from}: only --partitions ${input} fits`;
  }
  return null;
}

interface Moving {
  readonly source: RepartitionSource;
  readonly log: StreamLog;
  readonly from: number;
  readonly created: number;
}

/** Returns false if the state cannot be moved, and prints the reason. */
async function move({ source, log, from, created }: Moving, partitions: number, io: CommandIo): Promise<boolean> {
  const { connection, topics, lookup } = source;
  const sources: RestoredPartition[] = [];
  for (let partition = 0; partition < from; partition++) {
    sources.push(await restoreForTools(await log.openPartition(partition), topics.observations, lookup));
  }
  const plan: Repartition = {
    before: keyPartitioner(from),
    after: keyPartitioner(partitions),
    partitions,
    topics,
    version: lookup.detectorsVersion ?? 0,
    detectorNamed: lookup.detectorNamed,
  };
  const refusals = [
    ...(source.keyedBy === 'other' ? ['"key: other" under input: the state does not know the keys of its series'] : []),
    ...whyNotMoved(sources, plan),
    ...(await whyNotEmpty(source, { from, created })),
    ...(await whyUnscored(source, sources, plan)),
  ];
  if (refusals.length > 0) {
    refuse(refusals, io);
    return false;
  }
  await raisePartitions(connection, [topics.changelog], partitions);
  const outputs = await repartition(sources, plan);
  const offset = sources[0].restored.resume.offset ?? (await sources[0].session.oldestOffset());
  for (const { session } of sources) await session.close();
  // A session knows the partitions that were there as it was opened.
  const session = await log.openPartition(0);
  const { members } = await readConsumerGroup(connection, { groupId: source.groupId, topic: topics.observations });
  if (members > 0) {
    refuse([`Group ${source.groupId} has members now: stop the workers, and run this again`], io);
    return false;
  }
  await session.commit(outputs, offset);
  await session.close();
  const units = sources.reduce((sum, { state }) => sum + state.units.size + state.outdated.size, 0);
  io.out(`moved the state of ${units} series and groups from ${from} to ${partitions} partitions`);
  return true;
}

/** Partitions that the changelog got already must not have any state. */
async function whyNotEmpty(
  { connection, topics }: RepartitionSource,
  { from, created }: { readonly from: number; readonly created: number },
): Promise<string[]> {
  const used: number[] = [];
  for (let partition = from; partition < created; partition++) {
    let records = 0;
    await readKeys(connection, { topic: topics.changelog, partition, from: null }, () => records++);
    if (records > 0) used.push(partition);
  }
  if (used.length === 0) return [];
  return [`A worker has scored partitions ${used.join(', ')} already: their series have two states`];
}

/** Records that no worker has scored must be where their keys belong then: else a series would have two states. */
async function whyUnscored(
  { connection, topics }: RepartitionSource,
  sources: readonly RestoredPartition[],
  { after }: Repartition,
): Promise<string[]> {
  let elsewhere = 0;
  for (const { session, restored } of sources) {
    const { partition } = session;
    await readKeys(connection, { topic: topics.observations, partition, from: restored.resume.offset }, (key) => {
      if (key !== null && after(key) !== partition) elsewhere++;
    });
  }
  if (elsewhere === 0) return [];
  return [
    `${elsewhere} records of series that would move are not scored yet: stop the producers, let the ` +
      'workers score them, then stop the workers',
  ];
}

function refuse(refusals: readonly string[], io: CommandIo): ExitCode {
  for (const refusal of refusals) io.err(refusal);
  return FAILED;
}
