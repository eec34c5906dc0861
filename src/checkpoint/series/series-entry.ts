import assert from 'node:assert/strict';
import { type ArrivalState, readArrivals, writeArrivals } from '../arrival-state.ts';
import type { ChangelogSeries } from '../delta-log.ts';
import { type KeptEvents, readEventState } from '../event-state.ts';
import { CHANGE_ENTRY, SERIES_ENTRY, STATE_FORMAT, type StateReader, type StateWriter } from '../state-bytes.ts';
import {
  isChangeOf,
  readDetectorChange,
  readDetectorState,
  writeDetectorChange,
  writeDetectorState,
} from './series-state.ts';

export interface SeriesState extends ArrivalState, ChangelogSeries {
  readonly events: KeptEvents;
  startOffset: number;
  originMs: number;
  newestOffset: number;
  /** Its positions when it was last written; -1: it must be written whole. */
  written: number;
  /** Takes up what was kept of the times of its records, once positions and origin are known. */
  resumeArrivals(arrivals: ArrivalState): void;
}

export function writeSeriesState(writer: StateWriter, state: SeriesState, digest: string): void {
  writer.u8(SERIES_ENTRY);
  writer.text(state.key);
  writer.text(digest);
  writeHead(writer, state, false);
  writeDetectorState(writer, state.detector);
  state.written = state.detector.positions;
}

/** Writes what happened since the last entry. Returns false, and writes nothing, where the state must be whole. */
export function writeSeriesChange(writer: StateWriter, state: SeriesState): boolean {
  const { detector, written } = state;
  if (!isChangeOf(written, detector) || state.waiting.steps?.whole) return false;
  writer.u8(CHANGE_ENTRY);
  writer.text(state.key);
  writeHead(writer, state, true);
  writer.number(written);
  writer.number(detector.positions);
  writeDetectorChange(writer, detector, written);
  state.written = detector.positions;
  return true;
}

/** Reads what `writeSeriesState` wrote after key and digest. */
export function readSeriesState(reader: StateReader, state: SeriesState): void {
  const arrivals = readHead(reader, state);
  readDetectorState(reader, state.detector);
  state.written = reader.format === STATE_FORMAT ? state.detector.positions : -1;
  state.resumeArrivals(arrivals);
}

/** Reads what `writeSeriesChange` wrote after the key. */
export function readSeriesChange(reader: StateReader, state: SeriesState): void {
  const arrivals = readHead(reader, state);
  assert.equal(reader.number(), state.detector.positions, `a change of ${state.key} is missing in the changelog`);
  readDetectorChange(reader, state.detector, reader.number());
  state.written = reader.format === STATE_FORMAT ? state.detector.positions : -1;
  state.resumeArrivals(arrivals);
}

function writeHead(writer: StateWriter, state: SeriesState, isChange: boolean): void {
  writer.text(state.events.stateText);
  writer.number(state.startOffset);
  writer.number(state.originMs);
  writer.number(state.newestOffset);
  writeArrivals(writer, state, isChange);
}

function readHead(reader: StateReader, state: SeriesState): ArrivalState {
  state.events.resume(readEventState(reader));
  state.startOffset = reader.number();
  state.originMs = reader.number();
  state.newestOffset = reader.number();
  return readArrivals(reader);
}
