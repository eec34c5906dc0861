import { DeltaLog, type DeltaLogEntry, KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import { encodeSettings, settingsKey } from '../../checkpoint/known-settings.ts';
import {
  encodeVersion,
  encodeWarmStarts,
  VERSION_KEY,
  WARM_STARTS_KEY,
  type WatermarkState,
} from '../../checkpoint/partition-records.ts';
import { closedWindowKeys, relocatedWindow } from '../../checkpoint/series/series-state.ts';
import type { Topics } from '../../config/config.ts';
import { type InputPlace, offsetElsewhere } from '../../records/score-record.ts';
import type { OutdatedState } from '../arrival/outdated-state.ts';
import { ScoredGroup } from '../group/scored-group.ts';
import type { OutputRecord } from '../log/log.ts';
import { PARTITION_COUNT_KEY } from '../state/restore-partition.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ScoredSeries } from '../unit/scored-series.ts';
import { type RestoredPartition, stateCommit } from './state-tools.ts';

export interface Repartition {
  /** The partition of a record's key now, and then. */
  readonly before: (key: Buffer) => number;
  readonly after: (key: Buffer) => number;
  /** Number of partitions there will be. */
  readonly partitions: number;
  readonly topics: Topics;
  readonly version: number;
  readonly detectorNamed: ReadonlyMap<string, LoadedDetector>;
}

type Unit = ScoredSeries | ScoredGroup;

/** Kept state of a series or group: a unit, or one that waits under other settings. */
interface Resident {
  readonly key: string;
  readonly entry: DeltaLogEntry;
  /** null if only its bytes are known. */
  readonly unit: Unit | null;
  readonly outdated: OutdatedState | null;
}

/** A series or group on its way to another partition. */
interface Move extends Resident {
  readonly from: RestoredPartition;
  readonly to: number;
}

interface Journey {
  readonly sources: readonly RestoredPartition[];
  /** Place where the partitions of the input continue. */
  readonly offsets: readonly number[];
  readonly moves: readonly Move[];
  readonly plan: Repartition;
}

function residentsOf({ state }: RestoredPartition): Resident[] {
  return [
    ...Array.from(state.units.values(), (unit) => ({ key: unit.key, entry: unit, unit: unit as Unit, outdated: null })),
    ...Array.from(state.outdated.values(), (outdated) => ({
      key: outdated.key,
      entry: outdated,
      unit: outdated.previous,
      outdated,
    })),
  ];
}

/** The records of a series have its id as their key, those of a group the id of the group. */
function recordKeyOf(unitKey: string): Buffer {
  const [first, group] = unitKey.split(KEY_SEPARATOR);
  return Buffer.from(group ?? first);
}

/** Why these partitions cannot be divided differently, in sentences; none when they can. */
export function whyNotMoved(sources: readonly RestoredPartition[], { before }: Repartition): string[] {
  const elsewhere = sources.flatMap((source) =>
    residentsOf(source)
      .filter(({ key }) => before(recordKeyOf(key)) !== source.session.partition)
      .map(({ key }) => JSON.stringify(recordKeyOf(key).toString())),
  );
  const orphans = sources.flatMap(({ state }) => [...state.outdated.values()].filter(({ orphan }) => orphan !== null));
  const recreated = sources.filter(({ restored }) => restored.resume.from === 'start-over');
  return [
    ...(elsewhere.length === 0
      ? []
      : [
          `${elsewhere.length} series or groups, ${elsewhere.slice(0, 3).join(', ')} among them, are not in the ` +
            'partition of their id: their records have other keys, or were placed by another partitioner',
        ]),
    ...(orphans.length === 0
      ? []
      : [`${orphans.length} open events belong to other settings: let a worker close them first`]),
    ...(recreated.length === 0
      ? []
      : ['the input topic or the changelog was recreated: let a worker start over first']),
  ];
}

/**
 * Moves every series and group to the partition that its key has among `partitions`. Returns what is to be written to
 * the changelog in one transaction: what leaves a partition, then what arrives.
 */
export async function repartition(
  sources: readonly RestoredPartition[],
  plan: Repartition,
): Promise<readonly OutputRecord[]> {
  const moves = sources.flatMap((from) =>
    residentsOf(from)
      .map((resident): Move => {
        return { ...resident, from, to: plan.after(recordKeyOf(resident.key)) };
      })
      .filter(({ to }) => to !== from.session.partition),
  );
  const offsets = await Promise.all(
    sources.map(async ({ restored, session }) => restored.resume.offset ?? (await session.oldestOffset())),
  );
  const windows: OutputRecord[] = [];
  for (const source of sources) windows.push(...(await windowsOf(source, moves, plan)));
  const left = sources.flatMap((source) => leaving(source, { offsets, moves, plan }));
  for (const { unit, from } of moves) if (unit !== null) relocate(unit, from.session.partition);
  const arrived = Array.from({ length: plan.partitions }, (_, partition) =>
    arriving(partition, { sources, offsets, moves, plan }),
  );
  return [...left, ...windows, ...arrived.flat()];
}

/** The closed windows of what moves away, as they are, except for the start offset. */
async function windowsOf(
  source: RestoredPartition,
  moves: readonly Move[],
  { topics }: Repartition,
): Promise<OutputRecord[]> {
  const targets = new Map<string, { readonly to: number; readonly startOffset: number | null }>();
  for (const { unit, outdated, from, to } of moves) {
    if (from !== source) continue;
    for (const series of unit?.changelogSeries() ?? []) {
      for (const key of closedWindowKeys(series)) targets.set(key.toString(), { to, startOffset: series.startOffset });
    }
    if (unit === null)
      for (const key of outdated?.windowKeys ?? []) targets.set(key.toString(), { to, startOffset: null });
  }
  const newest = new Map<string, Buffer>();
  if (targets.size === 0) return [];
  await source.session.readChangelog((key, value) => {
    const name = key.toString();
    if (!targets.has(name)) return;
    if (value === null) newest.delete(name);
    else newest.set(name, Buffer.from(value));
  });
  return [...newest].flatMap(([name, value]) => {
    const { to, startOffset } = targets.get(name)!;
    const moved =
      startOffset === null ? value : relocatedWindow(value, { startOffset, moved: movedStartOffset(startOffset) });
    return moved === null ? [] : [{ topic: topics.changelog, partition: to, key: Buffer.from(name), value: moved }];
  });
}

function leaving(
  source: RestoredPartition,
  { offsets, moves, plan }: Omit<Journey, 'sources'>,
): readonly OutputRecord[] {
  const { state, restored, session } = source;
  const pending = stateCommit(placeOf(session.partition, plan), plan.topics, offsets[session.partition]);
  for (const { from, key: unitKey, entry, unit, outdated } of moves) {
    if (from !== source) continue;
    pending.state.windowsDeleted(
      unit === null ? (outdated?.windowKeys ?? []) : unit.changelogSeries().flatMap(closedWindowKeys),
    );
    pending.state.windowsDeleted(state.all.sources.recordsOf(unitKey).map(({ key }) => key));
    pending.state.evicted(entry);
  }
  pending.watermark = state.watermark.state;
  return pending.drain(restored.deltaLog, restored.resume.topicId);
}

function arriving(partition: number, { sources, offsets, moves, plan }: Journey): readonly OutputRecord[] {
  const own: RestoredPartition | undefined = sources[partition];
  const pending = stateCommit(placeOf(partition, plan), plan.topics, offsets[partition] ?? 0);
  pending.state.write(PARTITION_COUNT_KEY, Buffer.from(String(plan.partitions)));
  const arrivals = moves.filter(({ to }) => to === partition);
  const detectors = new Map(arrivals.flatMap(({ unit }) => (unit === null ? [] : [[unit.loaded.digest, unit.loaded]])));
  for (const [digest, { config }] of detectors) {
    pending.state.write(settingsKey(digest), encodeSettings(config.settings));
  }
  if (own === undefined) {
    const detectors = Object.fromEntries([...plan.detectorNamed].map(([name, { digest }]) => [name, digest]));
    pending.state.write(VERSION_KEY, encodeVersion({ version: plan.version, detectors, firstOffset: 0 }));
  }
  for (const { entry, key, from } of arrivals) {
    pending.state.touched(entry);
    pending.state.windowsWritten(from.state.all.sources.recordsOf(key));
  }
  const histories = new Set(
    [own, ...arrivals.map(({ from }) => from)].flatMap((one) => one?.restored.warmStarts ?? []),
  );
  if (histories.size > 0) pending.state.write(WARM_STARTS_KEY, encodeWarmStarts([...histories]));
  const stays = own !== undefined && (own.state.units.size > 0 || arrivals.length === 0);
  const watermark = earliest([...(stays ? [own] : []), ...arrivals.map(({ from }) => from)]);
  if (watermark !== null) pending.watermark = watermark;
  return pending.drain(own?.restored.deltaLog ?? new DeltaLog(), sources[0].restored.resume.topicId);
}

/** Event time where it was least far: nothing is silent, or confirmed, for having moved. */
function earliest(sources: readonly RestoredPartition[]): WatermarkState | null {
  const clocks = sources.map(({ state }) => state.watermark.state);
  return clocks.reduce<WatermarkState | null>(
    (least, watermark) => (least === null || watermark.secondMs < least.secondMs ? watermark : least),
    null,
  );
}

function placeOf(partition: number, { topics }: Repartition): InputPlace {
  return { topic: topics.observations, partition };
}

/**
 * A start offset of a state that moves to another partition: no offset there is the same, or windows of a later life of
 * the series would be taken for those of this one.
 */
function movedStartOffset(startOffset: number): number {
  return startOffset < 0 ? startOffset : Math.floor(startOffset) + 0.5;
}

/** Offsets that a unit knows of the partition that it leaves are marked as such from now on. */
function relocate(unit: ScoredSeries | ScoredGroup, from: number): void {
  const elsewhere = (offset: number) => offsetElsewhere(from, offset);
  unit.newestOffset = elsewhere(unit.newestOffset);
  unit.waiting.relocate(({ record, silence, ...one }) => ({
    ...one,
    record: { ...record, offset: elsewhere(record.offset) },
    silence: silence && { ...silence, lastOffset: elsewhere(silence.lastOffset) },
  }));
  unit.waiting.steps?.relocate(elsewhere);
  if (!(unit instanceof ScoredGroup)) {
    unit.startOffset = movedStartOffset(unit.startOffset);
    return;
  }
  unit.members = unit.members.map((member) => ({ ...member, startOffset: movedStartOffset(member.startOffset) }));
  for (const { observations } of unit.pending) {
    for (const [series, observation] of observations) {
      observations.set(series, { ...observation, offset: elsewhere(observation.offset) });
    }
  }
}
