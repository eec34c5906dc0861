import { setImmediate } from 'node:timers/promises';
import { type ChangelogSeries, KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import { readClosedWindow } from '../../checkpoint/series/series-state.ts';
import { assertStateFormat, readStored, StateReader } from '../../checkpoint/state-bytes.ts';
import { type WindowRecords, windowKey, windowOfKey } from '../../checkpoint/window-records.ts';
import { isOutdated, type OutdatedState } from '../arrival/outdated-state.ts';
import type { PartitionSession } from '../log/log.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { PartitionState } from './partition-state.ts';

export const WINDOW_PREFIX = 'w'.charCodeAt(0);
/** Series between which heartbeats and the other partitions proceed. */
const SERIES_OF_PART = 500;

export async function forEachInParts<T>(all: Iterable<T>, each: (one: T) => void): Promise<void> {
  let done = 0;
  for (const one of all) {
    each(one);
    if (++done % SERIES_OF_PART === 0) await setImmediate();
  }
}

/** Those whose rings closed windows fill. */
function seriesOf(one: Scorable | OutdatedState): readonly ChangelogSeries[] {
  const unit = isOutdated(one) ? one.previous : one;
  return unit?.changelogSeries() ?? [];
}

/** Completes what continues an open state by its closed windows, while its memory is in the caches of the processor. */
export function restoreWindowsOf(one: Scorable | OutdatedState, windows: WindowRecords): void {
  for (const series of seriesOf(one)) {
    windows.take(series.key, (reader, end) => restoreWindow(series, reader, end));
    if (!isOutdated(one)) series.detector.restored();
  }
}

/** Keeps the keys of the other windows with the outdated states that they belong to. */
export function keepWindowKeys(state: PartitionState, windows: WindowRecords): void {
  for (const [series, slots] of windows.left()) {
    for (const slot of slots) outdatedOf(series, state)?.windowKeys.push(windowKey(slot, series));
  }
}

function outdatedOf(series: string, { outdated }: PartitionState): OutdatedState | undefined {
  return outdated.get(series.split(KEY_SEPARATOR, 2).join(KEY_SEPARATOR));
}

/** Reads closed windows again that were too large to be kept, and completes all series by them. */
export async function readWindowsAgain(session: PartitionSession, state: PartitionState): Promise<void> {
  const seriesByKey = new Map(
    [...state.units.values(), ...state.outdated.values()].flatMap(seriesOf).map((series) => [series.key, series]),
  );
  const slotsOf = new Map<string, Set<number>>();
  await session.readChangelog((key, value) => {
    if (key[0] !== WINDOW_PREFIX || value === null) return;
    const { slot, series: id } = windowOfKey(key);
    const series = seriesByKey.get(id);
    if (series !== undefined) return restoreWindow(series, new StateReader(value, 1, value[0]), value.length);
    const slots = slotsOf.get(id) ?? new Set();
    if (!slots.has(slot)) outdatedOf(id, state)?.windowKeys.push(windowKey(slot, id));
    slotsOf.set(id, slots.add(slot));
  });
  await forEachInParts(state.units.values(), (unit) => {
    for (const { detector } of unit.changelogSeries()) detector.restored();
  });
}

function restoreWindow(series: ChangelogSeries, reader: StateReader, end: number): void {
  assertStateFormat(reader.format);
  readStored(`window of ${series.key}`, () => {
    readClosedWindow(reader, series);
    if (reader.position > end) throw new RangeError('it is cut off');
  });
}
