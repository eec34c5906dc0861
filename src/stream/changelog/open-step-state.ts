import { type PassedHeaders, readHeaders, writeHeaders } from './record-headers.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** A time step that takes points, with the place of the newest record among them. */
export interface OpenStep {
  readonly startMs: number;
  readonly endMs: number;
  /** Input offset. */
  offset: number;
  /** Timestamp of the record itself. */
  recordMs: number;
  key: Buffer | null;
  headers: PassedHeaders;
}

/** What is kept of the points of one series. */
export interface PointsOfSeries {
  readonly series: string;
  /** Newest event time of its points; -Infinity before the first. */
  newestMs: number;
  /** Event time of the partition at its newest record, at least `newestMs`. */
  heardMs: number;
  /** Points before this time are late: their steps are closed. */
  closedMs: number;
  /** Time and value of the point that a counter goes on from; NaN where there is none. */
  counterMs: number;
  counterValue: number;
  /** By time. */
  steps: OpenStep[];
  /** Times of the points of these steps, in the order of their arrival. */
  timesMs: number[];
  values: number[];
  /** How many of these points the changelog has. */
  written: number;
}

/** Points of a unit, by series. */
export interface OpenStepsState {
  readonly all: ReadonlyMap<string, PointsOfSeries>;
  /** Those that have changed since the last entry. */
  readonly changed: Set<PointsOfSeries>;
  /** Input offset of the newest record as its silence was reported; NaN before that. */
  silentOffset: number;
  /** The next entry must hold all of it, or the one that was read does; false: what has changed. */
  whole: boolean;
}

/** What a key is, mostly the id of the series. */
const KEYS = { none: 0, series: 1, other: 2 } as const;

/** All of it; or of the series that have changed, scalars, steps and the points since the last entry. */
export function writeOpenSteps(writer: StateWriter, state: OpenStepsState, isChange: boolean): void {
  const written = [...(isChange ? state.changed : state.all.values())];
  writer.u8(isChange ? 1 : 0);
  writer.number(state.silentOffset);
  writer.number(written.length);
  for (const points of written) {
    writePoints(writer, points, isChange ? points.written : 0);
    points.written = points.timesMs.length;
  }
  state.changed.clear();
  state.whole = false;
}

function writePoints(writer: StateWriter, points: PointsOfSeries, from: number): void {
  const { series, newestMs, steps, timesMs, values } = points;
  writer.text(series);
  writer.number(newestMs);
  writer.number(points.heardMs - newestMs);
  writer.number(points.closedMs);
  writer.number(points.counterMs);
  if (!Number.isNaN(points.counterMs)) writer.number(points.counterValue);
  writer.number(steps.length);
  for (const step of steps) writeStep(writer, step, series);
  writer.number(timesMs.length - from);
  for (let at = from; at < timesMs.length; at++) {
    writer.number(newestMs - timesMs[at]);
    writer.number(values[at]);
  }
}

function writeStep(writer: StateWriter, step: OpenStep, series: string): void {
  const { startMs, endMs, offset, recordMs, key, headers } = step;
  writer.number(startMs);
  writer.number(endMs - startMs);
  writer.number(offset);
  writer.number(recordMs);
  const kind = key === null ? KEYS.none : key.equals(Buffer.from(series)) ? KEYS.series : KEYS.other;
  writer.u8(kind);
  if (kind === KEYS.other) writer.blob(key);
  writeHeaders(writer, headers);
}

export function readOpenSteps(reader: StateReader): OpenStepsState {
  const whole = reader.u8() === 0;
  const silentOffset = reader.number();
  const read = Array.from({ length: reader.number() }, () => readPoints(reader));
  return { all: new Map(read.map((points) => [points.series, points])), changed: new Set(), silentOffset, whole };
}

function readPoints(reader: StateReader): PointsOfSeries {
  const series = reader.text();
  const newestMs = reader.number();
  const heardMs = newestMs + reader.number();
  const closedMs = reader.number();
  const counterMs = reader.number();
  const counterValue = Number.isNaN(counterMs) ? Number.NaN : reader.number();
  const steps = Array.from({ length: reader.number() }, () => readStep(reader, series));
  const timesMs: number[] = [];
  const values: number[] = [];
  for (let count = reader.number(); count > 0; count--) {
    timesMs.push(newestMs - reader.number());
    values.push(reader.number());
  }
  const scalars = { series, newestMs, heardMs, closedMs, counterMs, counterValue };
  return { ...scalars, steps, timesMs, values, written: timesMs.length };
}

function readStep(reader: StateReader, series: string): OpenStep {
  const startMs = reader.number();
  const endMs = startMs + reader.number();
  const [offset, recordMs, kind] = [reader.number(), reader.number(), reader.u8()];
  const key = kind === KEYS.none ? null : kind === KEYS.series ? Buffer.from(series) : reader.blob();
  const { headers } = readHeaders(reader);
  return { startMs, endMs, offset, recordMs, key, headers };
}
