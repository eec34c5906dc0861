import type { CounterPoint } from '../detection/calibration/counter-change.ts';
import type { PointExtras } from '../records/point-extras.ts';
import { type PassedHeaders, readExtras, readHeaders, writeExtras, writeHeaders } from './record-extras.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** A time step that takes points, with the place of the newest record among them. */
export interface OpenStep {
  readonly startMs: number;
  readonly endMs: number;
  offset: number;
  /** Timestamp of the record itself. */
  recordMs: number;
  key: Buffer | null;
  headers: PassedHeaders;
}

export interface PointsOfSeries {
  readonly series: string;
  /** Newest event time of its points; -Infinity before the first. */
  newestMs: number;
  /** Event time of the partition at its newest record, at least `newestMs`. */
  lastSeenMs: number;
  /** Points before this time are late: their steps are closed. */
  closedMs: number;
  /** The points that a counter continues from, the newest one of each start, the newest first. */
  bases: readonly CounterPoint[];
  /** By time. */
  steps: OpenStep[];
  /** Times of the points of these steps, in the order of their arrival. */
  timesMs: number[];
  values: number[];
  /** As many as values; null: none has any. */
  extras: (PointExtras | undefined)[] | null;
  /** Number of of these points the changelog has. */
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

/** The meaning of a key, mostly the id of the series. */
const KEYS = { none: 0, series: 1, other: 2 } as const;

/** Bits of the first byte. Few have extras: starts, temporality, large integers. */
const [CHANGE_FLAG, EXTRAS_FLAG] = [1, 2];

/** All of it; or of the series that have changed, scalars, steps and the points since the last entry. */
export function writeOpenSteps(writer: StateWriter, state: OpenStepsState, isChange: boolean): void {
  const written = [...(isChange ? state.changed : state.all.values())];
  const hasExtras = written.some(({ bases, extras }) => extras !== null || !bases.every(isPlain) || bases.length > 1);
  writer.u8((isChange ? CHANGE_FLAG : 0) | (hasExtras ? EXTRAS_FLAG : 0));
  writer.number(state.silentOffset);
  writer.number(written.length);
  for (const points of written) {
    const from = isChange ? points.written : 0;
    writePoints(writer, points, from);
    if (hasExtras) writePointExtras(writer, points, from);
    points.written = points.timesMs.length;
  }
  state.changed.clear();
  state.whole = false;
}

function writePoints(writer: StateWriter, points: PointsOfSeries, from: number): void {
  const { series, newestMs, steps, timesMs, values } = points;
  writer.text(series);
  writer.number(newestMs);
  writer.number(points.lastSeenMs - newestMs);
  writer.number(points.closedMs);
  const base = points.bases.at(0);
  writer.number(base?.timestampMs ?? Number.NaN);
  if (base !== undefined) writer.number(base.value);
  writer.number(steps.length);
  for (const step of steps) writeStep(writer, step, series);
  writer.number(timesMs.length - from);
  for (let at = from; at < timesMs.length; at++) {
    writer.number(newestMs - timesMs[at]);
    writer.number(values[at]);
  }
}

const isPlain = ({ startMs, low }: CounterPoint) => Number.isNaN(startMs) && low === 0;

function writePointExtras(
  writer: StateWriter,
  { bases: [base, ...others], extras, timesMs }: PointsOfSeries,
  from: number,
) {
  writer.number(base?.startMs ?? Number.NaN);
  writer.number(base?.low ?? 0);
  writer.number(others.length);
  for (const { timestampMs, value, low, startMs } of others) {
    for (const number of [timestampMs, value, low, startMs]) writer.number(number);
  }
  for (let at = from; at < timesMs.length; at++) writeExtras(writer, extras?.[at]);
}

function readPointExtras(reader: StateReader, points: PointsOfSeries): PointsOfSeries {
  const [startMs, low] = [reader.number(), reader.number()];
  const others = Array.from({ length: reader.number() }, (): CounterPoint => {
    const [timestampMs, value] = [reader.number(), reader.number()];
    return { timestampMs, value, low: reader.number(), startMs: reader.number() };
  });
  const extras = points.values.map(() => readExtras(reader));
  const bases = [...points.bases.map((base) => ({ ...base, startMs, low })), ...others];
  return { ...points, bases, extras: extras.some((one) => one !== undefined) ? extras : null };
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
  const flags = reader.u8();
  const whole = (flags & CHANGE_FLAG) === 0;
  const silentOffset = reader.number();
  const read = Array.from({ length: reader.number() }, () => {
    const points = readPoints(reader);
    return (flags & EXTRAS_FLAG) === 0 ? points : readPointExtras(reader, points);
  });
  return { all: new Map(read.map((points) => [points.series, points])), changed: new Set(), silentOffset, whole };
}

function readPoints(reader: StateReader): PointsOfSeries {
  const series = reader.text();
  const newestMs = reader.number();
  const lastSeenMs = newestMs + reader.number();
  const closedMs = reader.number();
  const counterMs = reader.number();
  const plain = { timestampMs: counterMs, low: 0, startMs: Number.NaN };
  const bases = Number.isNaN(counterMs) ? [] : [{ ...plain, value: reader.number() }];
  const steps = Array.from({ length: reader.number() }, () => readStep(reader, series));
  const timesMs: number[] = [];
  const values: number[] = [];
  for (let count = reader.number(); count > 0; count--) {
    timesMs.push(newestMs - reader.number());
    values.push(reader.number());
  }
  const scalars = { series, newestMs, lastSeenMs, closedMs, bases };
  return { ...scalars, steps, timesMs, values, extras: null, written: timesMs.length };
}

function readStep(reader: StateReader, series: string): OpenStep {
  const startMs = reader.number();
  const endMs = startMs + reader.number();
  const [offset, recordMs, kind] = [reader.number(), reader.number(), reader.u8()];
  const key = kind === KEYS.none ? null : kind === KEYS.series ? Buffer.from(series) : reader.blob();
  const { headers } = readHeaders(reader);
  return { startMs, endMs, offset, recordMs, key, headers };
}
