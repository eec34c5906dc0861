import { setImmediate } from 'node:timers/promises';
import { type ChangelogSeries, KEY_SEPARATOR } from '../../checkpoint/changelog-series.ts';
import { readClosedWindow } from '../../checkpoint/series/series-state.ts';
import { assertStateFormat, readStored, StateReader } from '../../checkpoint/state-bytes.ts';
import { type WindowRecords, type WindowSink, windowOfKey } from '../../checkpoint/window-records.ts';
import type { PartitionSession } from '../log/log.ts';
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

/** Fills the rings of all series with their closed windows, which are kept or read again. */
export async function restoreWindows(
  session: PartitionSession,
  state: PartitionState,
  windows: WindowRecords,
): Promise<void> {
  const seriesByKey = new Map<string, ChangelogSeries>();
  for (const unit of state.units.values()) {
    for (const series of unit.changelogSeries()) seriesByKey.set(series.key, series);
  }
  for (const { previous } of state.outdated.values()) {
    for (const series of previous?.changelogSeries() ?? []) seriesByKey.set(series.key, series);
  }
  const sinkOf = (key: string): WindowSink => {
    const series = seriesByKey.get(key);
    if (series !== undefined) return (_slot, value) => restoreWindow(series, value);
    const unitKey = key.split(KEY_SEPARATOR, 2).join(KEY_SEPARATOR);
    const slots = new Set<number>();
    return (slot) => {
      if (slots.has(slot)) return;
      slots.add(slot);
      state.outdated.get(unitKey)?.windowKeys.push(Buffer.from(`w/${slot}/${key}`));
    };
  };
  if (!windows.overflowed) {
    for (const _ of windows.drain(sinkOf)) await setImmediate();
    return;
  }
  const sinks = new Map<string, WindowSink>();
  await session.readChangelog((key, value) => {
    if (key[0] !== WINDOW_PREFIX || value === null) return;
    const { slot, series } = windowOfKey(key);
    let sink = sinks.get(series);
    if (sink === undefined) {
      sink = sinkOf(series);
      sinks.set(series, sink);
    }
    sink(slot, value);
  });
}

function restoreWindow(series: ChangelogSeries, value: Buffer): void {
  assertStateFormat(value[0]);
  readStored(`window of ${series.key}`, () => readClosedWindow(new StateReader(value, 1, value[0]), series));
}
