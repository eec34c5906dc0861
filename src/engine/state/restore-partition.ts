import { DeltaLog, type DeltaLogEntry, type DeltaLogWrite, KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import { readEventState } from '../../checkpoint/event-state.ts';
import { decodeSettings, digestOfKey, encodeSettings, settingsKey } from '../../checkpoint/known-settings.ts';
import {
  changeReader,
  type DeltaLogRecords,
  forgetRecords,
  keepNewestRecord,
  newestOpenStates,
  newestReader,
  type OpenState,
  openStateReader,
  openStateSize,
  withoutEvents,
} from '../../checkpoint/open-states.ts';
import {
  decodePauses,
  decodePosition,
  decodeVersion,
  decodeWarmStarts,
  encodeVersion,
  type OpenPauses,
  PAUSES_KEY,
  POSITION_KEY,
  type StoredPosition,
  type StoredVersion,
  VERSION_KEY,
  WARM_STARTS_KEY,
} from '../../checkpoint/partition-records.ts';
import { withRareCollections } from '../../checkpoint/rare-collections.ts';
import { formatOfEntry, isGroupEntry, readStored, STATE_FORMAT_MIN } from '../../checkpoint/state-bytes.ts';
import { type WindowBudget, WindowRecords } from '../../checkpoint/window-records.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { idleLimitOf } from '../arrival/idle-limit.ts';
import type { OutdatedState } from '../arrival/outdated-state.ts';
import type { PartitionSession } from '../log/log.ts';
import { planResume, type Resume } from '../log/resume-position.ts';
import { isGrouped, type LoadedDetector, previousDetector } from '../unit/loaded-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import {
  abandonOpenState,
  abandonReasonOf,
  keepOutdated,
  keepPrevious,
  SETTINGS_CHANGED,
  TOPIC_RECREATED,
} from './keep-outdated.ts';
import type { PartitionState } from './partition-state.ts';
import {
  forEachInParts,
  keepWindowKeys,
  readWindowsAgain,
  restoreWindowsOf,
  WINDOW_PREFIX,
} from './restore-windows.ts';

export interface Restored {
  readonly deltaLog: DeltaLog;
  /** Records of settings that the changelog lacks, and those that it need not hold any more. */
  readonly settingsChanges: readonly DeltaLogWrite[];
  /** Partition count of the input topic when this changelog was begun; null when the changelog is empty. */
  readonly partitionCount: number | null;
  readonly resume: Resume;
  /** The histories that the partition was filled from. */
  readonly warmStarts: readonly string[];
}

export interface DetectorLookup {
  readonly detectorOf: (series: string) => LoadedDetector | null;
  /** The id that a series is scored under, by the id of its name and labels; left out: that one. */
  readonly idOf?: (source: string) => string;
  readonly detectorNamed: ReadonlyMap<string, LoadedDetector>;
  /** Receives the share of the changelog that was read. Reading continues once it resolves. */
  readonly onProgress?: (share: number) => void | Promise<void>;
  /** For tests; left out: that of the process. */
  readonly windowBudget?: WindowBudget;
  /** 0, or left out: detectors that were not saved as a version, which every saved one is newer than. */
  readonly detectorsVersion?: number;
}

export const PARTITION_COUNT_KEY = Buffer.from('partitions');

const DELTA_LOG_PREFIX = 'j'.charCodeAt(0);
/**
 * Fills `state` from the changelog. Closed windows wait in memory until the open states that they belong to are known.
 * If they are too large for that, a second pass reads them again.
 */
export async function restorePartition(
  session: PartitionSession,
  state: PartitionState,
  detectors: DetectorLookup,
): Promise<Restored> {
  return withRareCollections(async () => {
    const windows = new WindowRecords(detectors.windowBudget);
    try {
      return await restoreWith(windows, { session, state, detectors });
    } finally {
      windows.release();
    }
  });
}

interface Restoring {
  readonly session: PartitionSession;
  readonly state: PartitionState;
  readonly detectors: DetectorLookup;
}

async function restoreWith(windows: WindowRecords, { session, state, detectors }: Restoring): Promise<Restored> {
  let partitionCount: number | null = null;
  let position: StoredPosition | null = null;
  let version: StoredVersion | null = null;
  let warmStarts: readonly string[] = [];
  let pauses: OpenPauses = {};
  const records: DeltaLogRecords = new Map();
  const settings = new Map<string, StreamDetectionSettings>();
  await session.readChangelog((key, value) => {
    if (key[0] === WINDOW_PREFIX) windows.keep(key, value);
    else if (key[0] === DELTA_LOG_PREFIX) keepNewestRecord(records, Number(key.toString('latin1', 2)), value);
    else if (key.equals(PARTITION_COUNT_KEY) && value !== null) partitionCount = Number(value.toString());
    else if (key.equals(POSITION_KEY) && value !== null) position = decodePosition(value);
    else if (key.equals(VERSION_KEY)) version = value === null ? null : decodeVersion(value);
    else if (key.equals(WARM_STARTS_KEY) && value !== null) warmStarts = decodeWarmStarts(value);
    else if (state.all.sources.restore(key, value)) return;
    else if (key.equals(PAUSES_KEY)) pauses = value === null ? {} : decodePauses(value);
    else keepSettings(settings, key, value);
  }, detectors.onProgress);
  refuseNewerVersion(version, detectors);
  const previous = new Map([...settings].map(([digest, known]) => [digest, previousDetector(digest, known)]));
  // Each changelog begins with the count: this one was created again while a worker ran, and lacks what was before.
  const isPart = position !== null && partitionCount === null;
  const resume = planResume(session, position, { isPart });
  const startsOver = resume.from === 'start-over';
  const deltaLog = await restoreOpenStates(records, (openState) => {
    const restored = startsOver
      ? abandonOpenState(openState, TOPIC_RECREATED, state)
      : readStored(`state of ${openState.key}`, () => restoreOpenState(openState, state, { ...detectors, previous }));
    if (!windows.overflowed) restoreWindowsOf(restored, windows);
    return restored;
  });
  if (windows.overflowed) await readWindowsAgain(session, state);
  else keepWindowKeys(state, windows);
  if (!startsOver) restoreClock(state, position);
  state.pauses.restore(pauses, (detector) => detectors.detectorNamed.has(detector));
  const settingsChanges = [
    ...changesOfSettings(settings, state, detectors),
    ...changeOfVersion(version, detectors, resume),
    ...state.all.unownedSources(),
  ];
  return { deltaLog, partitionCount, resume, settingsChanges, warmStarts };
}

/** Without a stored clock the newest times of the units replace it. */
function restoreClock(state: PartitionState, position: StoredPosition | null): void {
  state.all.adoptHeld();
  const watermark = position?.watermark ?? null;
  if (watermark !== null) state.watermark.restore(watermark);
  else for (const { arrivedMs } of state.units.values()) state.watermark.reach(arrivedMs);
}

/** Throws `topic-mismatch` when the input had another partition count as the state was made. */
export function refuseOtherPartitionCount(
  { partitionCount: earlier }: Pick<Restored, 'partitionCount'>,
  { partitionCount, place }: { partitionCount: number; place: InputPlace },
): void {
  if (earlier === null || earlier === partitionCount) return;
  const change = `had ${earlier} partitions when its series were learned and has ${partitionCount} now`;
  const remedy =
    'Stop producers and workers, and move the state with the command ' +
    `"state repartition --partitions ${partitionCount}"`;
  throw new ServiceError(
    'topic-mismatch',
    `topic ${place.topic} ${change}: series are separated from their state. ${remedy}`,
  );
}

/** A version of the detectors is not replaced by an older one: this worker has to learn of the newer one first. */
function refuseNewerVersion(stored: StoredVersion | null, { detectorsVersion: own = 0 }: DetectorLookup): void {
  if (stored === null || stored.version <= own) return;
  const has = own === 0 ? 'none that was saved' : String(own);
  const text = `the partition is scored by version ${stored.version} of the detectors, and this worker has ${has}`;
  const remedy = 'it waits until DETECTORS_TOPIC has that version or a newer one';
  throw new ServiceError('configuration', `${text}: ${remedy}`, { retryable: true });
}

function changeOfVersion(
  stored: StoredVersion | null,
  { detectorNamed, detectorsVersion: version = 0 }: DetectorLookup,
  { offset }: Resume,
): DeltaLogWrite[] {
  const detectors = Object.fromEntries([...detectorNamed].map(([name, { digest }]) => [name, digest]));
  const same = stored?.version === version && JSON.stringify(stored.detectors) === JSON.stringify(detectors);
  if (same) return [];
  return [{ key: VERSION_KEY, value: encodeVersion({ version, detectors, firstOffset: offset ?? 0 }) }];
}

/** Adds a unit to the partition's state, or keeps the bytes of one that cannot be continued. */
function restoreOpenState(
  openState: OpenState,
  state: PartitionState,
  {
    detectorOf: ofSource,
    idOf = (source) => source,
    detectorNamed,
    previous,
  }: DetectorLookup & { readonly previous: ReadonlyMap<string, LoadedDetector> },
): Scorable | OutdatedState {
  const { key, kind } = openState;
  const abandoned = abandonReasonOf(openState);
  if (abandoned === null && formatOfEntry(kind) < STATE_FORMAT_MIN) {
    return abandonOpenState(openState, SETTINGS_CHANGED, state);
  }
  const reader = openStateReader(openState);
  const digest = reader.text();
  const grouped = isGroupEntry(kind);
  const sourceOf = (series: string) => state.all.sources.sourceOf(key, series) ?? series;
  const detectorOf = (series: string) => ofSource(sourceOf(series));
  // Ids that are made of labels otherwise now are those of other series.
  const holder = idOf(sourceOf(key)) === key ? detectorOf(key) : null;
  const [detectorName = '', group = null] = grouped ? key.split(KEY_SEPARATOR) : [];
  const loaded = grouped ? (detectorNamed.get(detectorName) ?? null) : holder;
  if (loaded === null || loaded.digest !== digest || isGrouped(loaded) !== grouped) {
    const idleMs = idleLimitOf(loaded);
    if (abandoned !== null) return keepOutdated(openState, { reason: abandoned, orphan: null, idleMs }, state);
    const events = readEventState(newestReader(openState));
    const kept = withoutEvents(openState);
    const past = previous.get(digest);
    if (past !== undefined) return keepPrevious(kept, { past, events, detectorOf, named: loaded, group }, state);
    const reason = loaded === null ? 'detector_removed' : 'settings_changed';
    const orphan = events && ({ state: events, reason } as const);
    return keepOutdated(kept, { reason: 'settings-changed', orphan, idleMs }, state);
  }
  const unit = state.all.create(key, group, loaded);
  unit.readOpenState(reader);
  for (const change of openState.changes) unit.readChange(changeReader(change));
  return Object.assign(unit, openStateSize(openState));
}

function keepSettings(settings: Map<string, StreamDetectionSettings>, key: Buffer, value: Buffer | null): void {
  const digest = digestOfKey(key);
  if (digest === null) return;
  const known = value === null ? null : decodeSettings(value);
  if (known === null) settings.delete(digest);
  else settings.set(digest, known);
}

function changesOfSettings(
  known: ReadonlyMap<string, StreamDetectionSettings>,
  { outdated }: PartitionState,
  { detectorNamed }: DetectorLookup,
): DeltaLogWrite[] {
  const needed = new Set([...outdated.values()].map(({ previous }) => previous?.loaded.digest));
  const used = new Map([...detectorNamed.values()].map(({ digest, config }) => [digest, config.settings]));
  const gone = [...known.keys()].filter((digest) => !used.has(digest) && !needed.has(digest));
  return [
    ...[...used]
      .filter(([digest]) => !known.has(digest))
      .map(([digest, settings]) => ({ key: settingsKey(digest), value: encodeSettings(settings) })),
    ...gone.map((digest) => ({ key: settingsKey(digest), value: null })),
  ];
}

/** Restores each open state, and forgets the records that have them. */
async function restoreOpenStates(
  records: DeltaLogRecords,
  restore: (openState: OpenState) => DeltaLogEntry,
): Promise<DeltaLog> {
  const entries = new Map<number, DeltaLogEntry[]>();
  const openStates = readStored('delta log', () => newestOpenStates(records));
  await forEachInParts(openStates.values(), (openState) => {
    const entry = restore(openState);
    const own = entries.get(openState.slot);
    if (own === undefined) entries.set(openState.slot, [entry]);
    else own.push(entry);
  });
  const deltaLog = new DeltaLog();
  for (const [slot, bytes] of records) deltaLog.adopt(slot, bytes.length, entries.get(slot) ?? []);
  forgetRecords(records);
  return deltaLog;
}
