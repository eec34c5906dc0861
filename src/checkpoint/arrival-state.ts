import type { RecordHeaders } from '../kafka/batch/records.ts';
import type { PointExtras } from '../records/point-extras.ts';
import type { SilenceCause } from '../records/score-record.ts';
import { type OpenStepsState, readOpenSteps, writeOpenSteps } from './open-step-state.ts';
import { readExtras, readHeaders, writeExtras, writeHeaders } from './record-extras.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** A record whose time waits for confirmation, with the bytes of its dead letter. */
interface HeldRecord {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
  readonly extras?: PointExtras | undefined;
  readonly record: {
    readonly offset: number;
    readonly timestampMs: number;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly headers?: RecordHeaders;
  };
}

/** That a series sent nothing, instead of an observation. */
export interface FoundSilence {
  readonly cause: SilenceCause;
  /** Input offset of the newest record of the series. */
  readonly lastOffset: number;
}

/** A record that waits for the backfill of its series, or the silence of that. */
export interface QueuedRecord extends HeldRecord {
  readonly silence?: FoundSilence | undefined;
}

/** The replica of a series that counts. */
interface ReplicaTurn {
  readonly replica: string;
  /** Event time of its newest point. */
  readonly newestMs: number;
  /** Distance of its points. */
  readonly spacingMs: number;
}

/** The series of a group by their ids; one that is scored alone has the empty id. */
export type ActiveReplicas = Map<string, ReplicaTurn>;

export interface ArrivalState {
  /** Newest event time of any record whose time is confirmed; NaN before the first. */
  readonly arrivedMs: number;
  readonly waiting: WaitingRecords;
  /** Newest event time of any record that did not wait, NaN before the first; left out where it is `arrivedMs`. */
  readonly acceptedMs?: number;
  /** Event time of the partition at the newest record of a series that was far behind it; -Infinity for others. */
  readonly lastSeenMs?: number;
  /** True if the silence of the series was reported. */
  readonly silent: boolean;
  /** True if a series has started over, and no score has reported it. */
  readonly restartUnreported?: boolean;
}

export interface WaitingRecords {
  /** For another one that agrees with their time, in the order of their offsets. */
  readonly unconfirmed: readonly HeldRecord[];
  /** For older ones, by event time. */
  readonly outOfOrder: readonly HeldRecord[];
  /** In the order in which they are accepted; null: the unit awaits no backfill. */
  readonly forBackfill: readonly QueuedRecord[] | null;
  /** Points of steps that are open, and of counters; null for a unit that has neither. */
  readonly steps: OpenStepsState | null;
  /** null if no record names a replica. */
  readonly replicas: ActiveReplicas | null;
}

export const NO_RECORDS: readonly never[] = [];

const SILENT_FLAG = 1;
const BEHIND_FLAG = 2;
const QUEUED_FLAG = 4;
const RESTART_FLAG = 8;
const STEPS_FLAG = 16;
/** Since format 8: a record that waits has extras. */
const EXTRAS_FLAG = 32;
/** Since format 8. */
const REPLICAS_FLAG = 64;
/** Causes of queued silences, by place; 0 is an observation. */
const CAUSES = [null, 'event-time', 'clock'] as const;

/** @param isChange whether open steps are written as what was added to them */
export function writeArrivals(writer: StateWriter, arrivals: ArrivalState, isChange: boolean): void {
  const { arrivedMs, acceptedMs, lastSeenMs = Number.NEGATIVE_INFINITY, silent } = arrivals;
  const { unconfirmed, outOfOrder, forBackfill: queued, steps, replicas } = arrivals.waiting;
  const isBehind = lastSeenMs !== Number.NEGATIVE_INFINITY;
  const isQueued = queued !== null && queued.length > 0;
  const flags = (silent ? SILENT_FLAG : 0) | (isBehind ? BEHIND_FLAG : 0) | (isQueued ? QUEUED_FLAG : 0);
  const isWaiting = isQueued || unconfirmed.length + outOfOrder.length > 0;
  const waiting = isWaiting ? [...unconfirmed, ...outOfOrder, ...(queued ?? [])] : NO_RECORDS;
  const hasExtras = waiting.some(({ extras }) => extras !== undefined);
  writer.number(arrivedMs);
  const more = (steps === null ? 0 : STEPS_FLAG) | (replicas === null ? 0 : REPLICAS_FLAG);
  writer.u8(flags | (arrivals.restartUnreported ? RESTART_FLAG : 0) | more | (hasExtras ? EXTRAS_FLAG : 0));
  if (isBehind) writer.number(lastSeenMs);
  writeRecords(writer, unconfirmed);
  writeRecords(writer, outOfOrder);
  if (outOfOrder.length > 0 || isQueued || steps !== null) writer.number(acceptedMs ?? Number.NaN);
  if (isQueued) writeQueue(writer, queued);
  if (steps !== null) writeOpenSteps(writer, steps, isChange);
  if (replicas !== null) writeReplicas(writer, replicas, arrivedMs);
  if (hasExtras) for (const { extras } of waiting) writeExtras(writer, extras);
}

function writeRecords(writer: StateWriter, records: readonly HeldRecord[]): void {
  writer.u8(records.length);
  for (const record of records) writeRecord(writer, record);
}

function writeRecord(writer: StateWriter, { series, timestampMs, value, record }: HeldRecord): void {
  writer.text(series);
  writer.number(timestampMs);
  writer.number(value);
  writer.number(record.offset);
  writer.number(record.timestampMs);
  writer.blob(record.key);
  writer.blob(record.value);
  writeHeaders(writer, record.headers);
}

function writeQueue(writer: StateWriter, records: readonly QueuedRecord[]): void {
  writer.u32(records.length);
  for (const queued of records) {
    writeRecord(writer, queued);
    writer.u8(CAUSES.indexOf(queued.silence?.cause ?? null));
    if (queued.silence !== undefined) writer.number(queued.silence.lastOffset);
  }
}

export function readArrivals(reader: StateReader): ArrivalState {
  const [arrivedMs, flags] = [reader.number(), reader.u8()];
  const lastSeenMs = (flags & BEHIND_FLAG) !== 0 ? reader.number() : Number.NEGATIVE_INFINITY;
  const silent = (flags & SILENT_FLAG) !== 0;
  const [unconfirmed, outOfOrder] = [readRecords(reader), readRecords(reader)];
  const isQueued = (flags & QUEUED_FLAG) !== 0;
  const hasSteps = (flags & STEPS_FLAG) !== 0;
  const acceptedMs = outOfOrder.length > 0 || isQueued || hasSteps ? reader.number() : arrivedMs;
  const forBackfill = isQueued ? readQueue(reader) : null;
  const steps = hasSteps ? readOpenSteps(reader) : null;
  const replicas = (flags & REPLICAS_FLAG) === 0 ? null : readReplicas(reader, arrivedMs);
  const withExtras = <R extends HeldRecord>(records: readonly R[]): readonly R[] => {
    return (flags & EXTRAS_FLAG) === 0 ? records : records.map((one) => ({ ...one, extras: readExtras(reader) }));
  };
  const waiting = {
    unconfirmed: withExtras(unconfirmed),
    outOfOrder: withExtras(outOfOrder),
    forBackfill: forBackfill && withExtras(forBackfill),
    steps,
    replicas,
  };
  const restartUnreported = (flags & RESTART_FLAG) !== 0;
  return { arrivedMs, acceptedMs, lastSeenMs, waiting, silent, restartUnreported };
}

function readRecords(reader: StateReader): readonly HeldRecord[] {
  const count = reader.u8();
  if (count === 0) return NO_RECORDS;
  return Array.from({ length: count }, () => readRecord(reader));
}

function readRecord(reader: StateReader): HeldRecord {
  const [series, timestampMs, value] = [reader.text(), reader.number(), reader.number()];
  const record = { offset: reader.number(), timestampMs: reader.number(), key: reader.blob(), value: reader.blob() };
  return { series, timestampMs, value, record: { ...record, ...readHeaders(reader) } };
}

function readQueue(reader: StateReader): readonly QueuedRecord[] {
  return Array.from({ length: reader.u32() }, (): QueuedRecord => {
    const record = readRecord(reader);
    const cause = CAUSES[reader.u8()];
    return cause === null ? record : { ...record, silence: { cause, lastOffset: reader.number() } };
  });
}

/** @param arrivedMs newest event time of the unit */
function writeReplicas(writer: StateWriter, turns: ActiveReplicas, arrivedMs: number): void {
  writer.number(turns.size);
  for (const [series, { replica, newestMs, spacingMs }] of turns) {
    writer.text(series);
    writer.text(replica);
    writer.number(arrivedMs - newestMs);
    writer.number(spacingMs);
  }
}

function readReplicas(reader: StateReader, arrivedMs: number): ActiveReplicas {
  const read = Array.from({ length: reader.number() }, () => {
    const [series, replica] = [reader.text(), reader.text()];
    return [series, { replica, newestMs: arrivedMs - reader.number(), spacingMs: reader.number() }] as const;
  });
  return new Map(read);
}
