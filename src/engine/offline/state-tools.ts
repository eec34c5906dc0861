import { type ChangelogSeries, KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import { VERSION_KEY } from '../../checkpoint/partition-records.ts';
import { closedWindowKeys } from '../../checkpoint/series/series-state.ts';
import type { Topics } from '../../config/config.ts';
import { keptValue } from '../../detection/memory/kept-value.ts';
import { contextValues } from '../../detection/series/context-values.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { seriesPattern } from '../../records/series/series-pattern.ts';
import { gridTime } from '../../time/frequency.ts';
import { PendingCommit } from '../commit/pending-commit.ts';
import type { PartitionSession } from '../log/log.ts';
import { PartitionState } from '../state/partition-state.ts';
import { type DetectorLookup, type Restored, restorePartition } from '../state/restore-partition.ts';
import type { Scorable } from '../unit/scorable.ts';
import { ScoredSeries } from '../unit/scored-series.ts';

const EVERYTHING = '*';

/** State that a worker would restore of a partition. */
export interface RestoredPartition {
  readonly session: PartitionSession;
  readonly state: PartitionState;
  readonly restored: Restored;
}

/** Restores a partition with the worker's own code. Opening its session fences a worker that owns it. */
export async function restoreForTools(
  session: PartitionSession,
  topic: string,
  detectors: DetectorLookup,
): Promise<RestoredPartition> {
  const state = new PartitionState({ topic, partition: session.partition }, Number.POSITIVE_INFINITY);
  return { session, state, restored: await restorePartition(session, state, detectors) };
}

interface InspectedSeries {
  readonly series: string;
  readonly detector: string;
  readonly position: number;
  /** Residuals that calibrate it. */
  readonly calibrated: number;
  /** Event time of its newest record; NaN if it is not known. */
  readonly newestMs: number;
  readonly silent: boolean;
  /** Records that wait for confirmation, for older ones, or for the end of their time step. */
  readonly waiting: number;
}

/** The series whose ids match a glob, as they would continue. */
export function inspectSeries({ state }: RestoredPartition, glob: string): InspectedSeries[] {
  return matching(state, glob).flatMap((unit) =>
    unit.changelogSeries().map((series) => ({
      series: idOf(series),
      detector: unit.loaded.config.name,
      position: series.detector.positions,
      calibrated: series.detector.rings.calibration.samples,
      newestMs: unit.arrivedMs,
      silent: unit.silent,
      waiting: recordsWaiting(unit.waiting, idOf(series)),
    })),
  );
}

function recordsWaiting({ unconfirmed, outOfOrder, steps }: Scorable['waiting'], series: string): number {
  return unconfirmed.length + outOfOrder.length + (steps?.all.get(series)?.values.length ?? 0);
}

/** One kept value of a series that is scored alone. */
interface KeptObservation {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
}

/** The values that the series kept, oldest first, without the missing ones. */
export function* keptObservations({ state }: RestoredPartition, glob: string): Generator<KeptObservation> {
  for (const unit of matching(state, glob)) {
    if (!(unit instanceof ScoredSeries)) continue;
    const { freq } = unit.loaded.config.settings;
    const { origin } = unit.detector;
    const [start, values] = contextValues(unit.detector);
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) continue;
      const timestampMs = Math.round(gridTime(freq, unit.originMs, start + i));
      yield { series: unit.key, timestampMs, value: keptValue(origin, Math.fround(values[i] - origin)) };
    }
  }
}

/** A commit of state alone. */
export function stateCommit(place: InputPlace, topics: Topics, nextOffset: number): PendingCommit {
  const nothing = () => Buffer.alloc(0);
  const format = { place, topics, encodeScore: nothing, encodeEvent: nothing, timestamps: 'processing-time' as const };
  return new PendingCommit(format, Date.now, nextOffset);
}

/** Commits that these series and groups start over. Returns how many there were. */
export async function resetSeries(
  { session, state, restored }: RestoredPartition,
  { glob, topics, isDry = false }: { readonly glob: string; readonly topics: Topics; readonly isDry?: boolean },
): Promise<number> {
  const units = matching(state, glob);
  const outdated = [...state.outdated.values()].filter(({ key }) => seriesPattern([glob]).test(key));
  if (isDry) return units.length + outdated.length;
  const nextOffset = restored.resume.offset ?? (await session.oldestOffset());
  const pending = stateCommit(state.place, topics, nextOffset);
  for (const unit of units) {
    for (const series of unit.changelogSeries()) pending.state.windowsDeleted(closedWindowKeys(series));
    pending.state.evicted(unit);
  }
  for (const one of outdated) {
    pending.state.windowsDeleted(one.windowKeys);
    pending.state.evicted(one);
  }
  // Nothing is left that a saved version of the detectors made: workers may score by the file again.
  if (glob === EVERYTHING) pending.state.write(VERSION_KEY, null);
  pending.watermark = state.watermark.state;
  if (glob === EVERYTHING || units.length + outdated.length > 0) {
    await session.commit(pending.drain(restored.deltaLog, restored.resume.topicId), nextOffset);
  }
  return units.length + outdated.length;
}

/** Units with a series that matches. */
function matching({ units }: PartitionState, glob: string): Scorable[] {
  const pattern = seriesPattern([glob]);
  return [...units.values()].filter((unit) => unit.changelogSeries().some((series) => pattern.test(idOf(series))));
}

/** The key of a member ends with its id. */
function idOf({ key }: ChangelogSeries): string {
  return key.slice(key.lastIndexOf(KEY_SEPARATOR) + 1);
}
