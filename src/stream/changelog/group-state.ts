import type { GroupDetector } from '../../detector/group-detector.ts';
import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { RestartReason } from '../record/score-record.ts';
import { type ArrivalState, readArrivals, writeArrivals } from './arrival-state.ts';
import type { ChangelogSeries } from './changelog-series.ts';
import { type EventState, readEventState, writeEventState } from './event-state.ts';
import { readDetectorState, writeDetectorState } from './series-state.ts';
import { GROUP_ENTRY, type StateReader, type StateWriter } from './state-bytes.ts';

/** A member that the group is scored with. Its detector has the same index in the group's detector. */
export interface Member extends ChangelogSeries {
  readonly series: string;
  /** Newest position it was observed at. */
  newest: number;
}

/** The observations of a time step that is not scored yet, by series, in the order of their input offsets. */
export interface PendingStep {
  readonly position: number;
  readonly observations: Map<string, PendingObservation>;
}

export interface PendingObservation {
  readonly timestampMs: number;
  readonly value: number;
  /** Input offset. */
  readonly offset: number;
  /** Those of its record that pass on to its score. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The state of a group that is kept in the changelog. */
export interface GroupState extends ArrivalState {
  readonly key: string;
  /** Of the detector that the group is bound to. */
  readonly digest: string;
  readonly events: { state(): EventState | null; resume(state: EventState | null): void };
  readonly detector: GroupDetector;
  /** Aligned with `detector.members`. */
  readonly members: readonly Member[];
  /**
   * Series that wait to become members, because their first observation was late, and the position of that observation.
   */
  readonly joining: Map<string, number>;
  /** By position, ascending. */
  readonly pending: PendingStep[];
  /** Time of position 0; NaN before the first observation. */
  originMs: number;
  /** Newest position of any observation. */
  newest: number;
  newestOffset: number;
  restarted: RestartReason | null;
  /** Takes up what was kept of the times of its records. */
  resumeArrivals(arrivals: ArrivalState): void;
  /** Adds a member from the changelog. Returns its detector, whose state is read next. */
  resumeMember(series: string, startOffset: number, newest: number): SeriesDetector;
}

/**
 * Writes the open state of a group: its position, the open windows of its members, and the time steps that wait for
 * members.
 */
export function writeGroupState(writer: StateWriter, group: GroupState): void {
  const { detector, members, pending } = group;
  writer.u8(GROUP_ENTRY);
  writer.text(group.key);
  writer.text(group.digest);
  writeEventState(writer, group.events.state());
  writer.f64(group.originMs);
  writer.f64(group.newest);
  writer.f64(group.newestOffset);
  writeArrivals(writer, group);
  writer.text(group.restarted ?? '');
  writer.f64(detector.positions);
  writer.f64(detector.accumulation.samples);
  writer.f64(detector.accumulation.mean);
  writer.f64(detector.accumulation.variance);
  for (const number of detector.alarmState) writer.f64(number);
  for (const number of detector.scaleState) writer.f64(number);
  writer.u32(members.length);
  for (const member of members) {
    writer.text(member.series);
    writer.f64(member.startOffset);
    writer.f64(member.newest);
    writeDetectorState(writer, member.detector);
  }
  writer.u32(group.joining.size);
  for (const [series, newest] of group.joining) {
    writer.text(series);
    writer.f64(newest);
  }
  writer.u32(pending.length);
  for (const step of pending) writePendingStep(writer, step);
}

/** Reads what `writeGroupState` wrote after key and digest. */
export function readGroupState(reader: StateReader, group: GroupState): void {
  group.events.resume(readEventState(reader));
  group.originMs = reader.f64();
  group.newest = reader.f64();
  group.newestOffset = reader.f64();
  group.resumeArrivals(readArrivals(reader));
  const restarted = reader.text();
  group.restarted = restarted === '' ? null : (restarted as RestartReason);
  const positions = reader.f64();
  const [samples, mean, spread] = [reader.f64(), reader.f64(), reader.f64()];
  // Format 1 kept the deviation.
  const variance = reader.format === 1 ? spread * spread : spread;
  group.detector.resumeAt(positions, { samples, mean, variance, growth: 0 });
  const { alarmState, scaleState } = group.detector;
  if (reader.format > 1) readNumbers(reader, alarmState);
  if (reader.format > 2) readNumbers(reader, scaleState);
  for (let members = reader.u32(); members > 0; members--) {
    readDetectorState(reader, group.resumeMember(reader.text(), reader.f64(), reader.f64()));
  }
  for (let joining = reader.u32(); joining > 0; joining--) group.joining.set(reader.text(), reader.f64());
  for (let steps = reader.u32(); steps > 0; steps--) group.pending.push(readPendingStep(reader));
}

function readNumbers(reader: StateReader, target: Float64Array): void {
  for (let i = 0; i < target.length; i++) target[i] = reader.f64();
}

function writePendingStep(writer: StateWriter, { position, observations }: PendingStep): void {
  writer.f64(position);
  writer.u32(observations.size);
  for (const [series, { timestampMs, value, offset }] of observations) {
    writer.text(series);
    writer.f64(timestampMs);
    writer.f64(value);
    writer.f64(offset);
  }
}

function readPendingStep(reader: StateReader): PendingStep {
  const position = reader.f64();
  const observations: PendingStep['observations'] = new Map();
  for (let count = reader.u32(); count > 0; count--) {
    observations.set(reader.text(), { timestampMs: reader.f64(), value: reader.f64(), offset: reader.f64() });
  }
  return { position, observations };
}
