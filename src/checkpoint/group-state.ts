import assert from 'node:assert/strict';
import type { ProfileState } from '../detection/profile/profile-layout.ts';
import type { GroupDetector } from '../detection/series/group-detector.ts';
import type { RestartReason } from '../records/score-record.ts';
import { type ArrivalState, readArrivals, writeArrivals } from './arrival-state.ts';
import { type ChangelogSeries, readPhasedPositions, writePhasedPositions } from './delta-log.ts';
import { type KeptEvents, readEventState } from './event-state.ts';
import {
  type GroupChanges,
  keepPending,
  type PendingStep,
  readObservation,
  writeObservation,
} from './pending-steps.ts';
import { readProfile, writeProfile } from './series/profile-state.ts';
import {
  readDetectorChange,
  readDetectorState,
  writeDetectorChange,
  writeDetectorState,
} from './series/series-state.ts';
import { CHANGE_ENTRY, GROUP_ENTRY, STATE_FORMAT, type StateReader, type StateWriter } from './state-bytes.ts';

/** Earlier formats know of no members that left. */
const DEPARTED_FORMAT = 6;

/** A member that the group is scored with. Its detector has the same index in the group's detector. */
export interface Member extends ChangelogSeries {
  readonly series: string;
  /** Newest position it was observed at. */
  newest: number;
  /** Input offset of its newest observation that was scored; -1 if that is not known. */
  newestOffset: number;
}

export interface DepartedMember {
  readonly profile: ProfileState;
  /** Event time of its newest observation. */
  readonly atMs: number;
}

/** The kept part of the silence of members. */
export interface SilentMembers {
  /** Members whose silence was reported, oldest first, with the time of their last record. They may have left. */
  readonly names: Map<string, number>;
  /** Event time before which no member counts as silent: the partition had paused, or the group was behind. */
  floorMs: number;
}

export interface GroupState extends ArrivalState {
  readonly key: string;
  /** Digest of the detector that the group is bound to. */
  readonly digest: string;
  readonly events: KeptEvents;
  readonly changes: GroupChanges;
  readonly silence: SilentMembers;
  readonly detector: GroupDetector;
  /** Aligned with `detector.members`. */
  readonly members: readonly Member[];
  /**
   * Series that wait to become members, because their first observation was late, and the position of that observation.
   */
  readonly joining: Map<string, number>;
  /** By series, the first to leave first. */
  readonly departed: Map<string, DepartedMember>;
  /** By position, ascending. */
  readonly pending: PendingStep[];
  /** Time of position 0; NaN before the first observation. */
  originMs: number;
  /** Newest position of any observation. */
  newest: number;
  newestOffset: number;
  restarted: RestartReason | null;
  resumeArrivals(arrivals: ArrivalState): void;
  /** Adds a member from the changelog. The state of its detector is read next. */
  resumeMember(series: string, startOffset: number, newest: number): Member;
  /** Adds a departed member from the changelog. Its seasonal profile is read next; null: there is none any more. */
  resumeDeparted(series: string, atMs: number): ProfileState | null;
}

/**
 * Writes the open state of a group: its position, the open windows of its members, what members that left have learned,
 * and the time steps that wait for members.
 */
export function writeGroupState(writer: StateWriter, group: GroupState): void {
  const { detector, members, pending } = group;
  writer.u8(GROUP_ENTRY);
  writer.text(group.key);
  writer.text(group.digest);
  writeHead(writer, group, false);
  writePhasedPositions(writer, detector.positions, detector);
  writer.number(detector.accumulation.samples);
  writer.number(detector.accumulation.mean);
  writer.number(detector.accumulation.variance);
  writeScales(writer, detector);
  writer.u32(members.length);
  for (const member of members) {
    writer.text(member.series);
    writer.number(member.startOffset);
    writer.number(member.newest);
    writer.number(member.newestOffset);
    writeDetectorState(writer, member.detector);
  }
  writer.u32(group.joining.size);
  for (const [series, newest] of group.joining) {
    writer.text(series);
    writer.number(newest);
  }
  writer.u32(group.departed.size);
  for (const [series, { profile, atMs }] of group.departed) {
    writer.text(series);
    writer.number(atMs);
    writeProfile(writer, profile);
  }
  writer.u32(pending.length);
  for (const step of pending) {
    writer.number(step.position);
    writer.u32(step.observations.size);
    for (const [series, observation] of step.observations) writeObservation(writer, series, observation);
  }
  group.changes.writtenAt(detector.positions);
}

/**
 * Writes what happened since the last entry: what was accepted, and what changed in the members if a step was scored.
 * Returns false, and writes nothing, where the state must be whole.
 */
export function writeGroupChange(writer: StateWriter, group: GroupState): boolean {
  const { detector, members, changes } = group;
  const { written } = changes;
  if (written < 0 || written < detector.windowStart || group.waiting.steps?.whole) return false;
  writer.u8(CHANGE_ENTRY);
  writer.text(group.key);
  writeHead(writer, group, true);
  writer.number(written);
  writer.number(detector.positions);
  const added = changes.added.filter(({ position }) => position >= detector.positions);
  writer.u32(added.length);
  for (const { position, series, observation } of added) {
    writer.number(position);
    writeObservation(writer, series, observation);
  }
  if (detector.positions > written) {
    writeScales(writer, detector);
    for (const member of members) {
      writer.number(member.newest);
      writer.number(member.newestOffset);
      writeDetectorChange(writer, member.detector, written);
    }
  }
  changes.writtenAt(detector.positions);
  return true;
}

/** Reads what `writeGroupState` wrote after key and digest. */
export function readGroupState(reader: StateReader, group: GroupState): void {
  readHead(reader, group);
  const { positions, phase } = readPhasedPositions(reader);
  group.detector.phase = phase;
  const [samples, mean, variance] = [reader.number(), reader.number(), reader.number()];
  group.detector.resumeAt(positions, { samples, mean, variance, growth: 0 });
  readScales(reader, group.detector);
  for (let members = reader.u32(); members > 0; members--) {
    const member = group.resumeMember(reader.text(), reader.number(), reader.number());
    member.newestOffset = reader.number();
    readDetectorState(reader, member.detector);
  }
  for (let joining = reader.u32(); joining > 0; joining--) group.joining.set(reader.text(), reader.number());
  if (reader.format >= DEPARTED_FORMAT) {
    for (let departed = reader.u32(); departed > 0; departed--) {
      readProfile(reader, group.resumeDeparted(reader.text(), reader.number()));
    }
  }
  for (let steps = reader.u32(); steps > 0; steps--) {
    const position = reader.number();
    for (let count = reader.u32(); count > 0; count--) keepPending(group.pending, position, readObservation(reader));
  }
  if (reader.format === STATE_FORMAT) group.changes.writtenAt(positions);
}

/** Reads what `writeGroupChange` wrote after the key. */
export function readGroupChange(reader: StateReader, group: GroupState): void {
  const { detector, members, pending } = group;
  readHead(reader, group);
  const written = reader.number();
  assert.equal(written, detector.positions, `a change of group ${group.key} is missing in the changelog`);
  detector.positions = reader.number();
  while (pending.length > 0 && pending[0].position < detector.positions) pending.shift();
  for (let added = reader.u32(); added > 0; added--) {
    keepPending(pending, reader.number(), readObservation(reader));
  }
  if (detector.positions > written) {
    readScales(reader, detector);
    for (const member of members) {
      member.newest = reader.number();
      member.newestOffset = reader.number();
      readDetectorChange(reader, member.detector, detector.positions);
    }
  }
  if (reader.format === STATE_FORMAT) group.changes.writtenAt(detector.positions);
}

function writeHead(writer: StateWriter, group: GroupState, isChange: boolean): void {
  writer.text(group.events.stateText);
  writer.number(group.originMs);
  writer.number(group.newest);
  writer.number(group.newestOffset);
  writeArrivals(writer, group, isChange);
  writer.text(group.restarted ?? '');
  writer.number(group.silence.floorMs);
  writer.u32(group.silence.names.size);
  for (const [series, lastSeenMs] of group.silence.names) {
    writer.text(series);
    writer.number(lastSeenMs);
  }
}

function readHead(reader: StateReader, group: GroupState): void {
  group.events.resume(readEventState(reader));
  group.originMs = reader.number();
  group.newest = reader.number();
  group.newestOffset = reader.number();
  group.resumeArrivals(readArrivals(reader));
  const restarted = reader.text();
  group.restarted = restarted === '' ? null : (restarted as RestartReason);
  const { silence } = group;
  silence.floorMs = reader.number();
  silence.names.clear();
  for (let names = reader.u32(); names > 0; names--) silence.names.set(reader.text(), reader.number());
}

function writeScales(writer: StateWriter, { alarmState, scaleState }: GroupDetector): void {
  for (const number of alarmState) writer.number(number);
  for (const number of scaleState) writer.number(number);
}

function readScales(reader: StateReader, { alarmState, scaleState }: GroupDetector): void {
  for (let i = 0; i < alarmState.length; i++) alarmState[i] = reader.number();
  for (let i = 0; i < scaleState.length; i++) scaleState[i] = reader.number();
}
