import { gridTime, meanStepMs } from '../../../calendar/frequency.ts';
import { SCALARS } from '../../../detector/series-memory.ts';
import type { GroupState, Member, SilentMembers } from '../../changelog/group-state.ts';
import type { InputPlace } from '../../record/score-record.ts';
import type { ReceivedObservation, ScoreSink } from '../unit/batch-outcome.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import { isNewsSilent, silenceMs, silenceRecord } from '../unit/silence-records.ts';
import type { UnitEvents } from '../unit/unit-events.ts';
import { newestOf } from './group-steps.ts';

/** Names of members that are silent, or left so. Of more of them the oldest is forgotten. */
const SILENT_MAX = 1_000;

/** A group whose members may fall silent. */
export interface SilentGroup extends GroupState {
  readonly group: string;
  readonly bound: BoundDetector;
  readonly place: InputPlace;
  readonly events: UnitEvents;
}

/**
 * Silence of the members of a group. Each is said to be silent once, and to be back once; what lies between the first
 * that stops and the last that returns is one event of the group. A group that stops is one whose members all stop.
 */
export class GroupSilence implements SilentMembers {
  readonly names = new Map<string, number>();
  floorMs = Number.NEGATIVE_INFINITY;
  /** Event time of the partition by which all were looked at. Not kept: looking again finds the same. */
  #lookedMs = Number.NEGATIVE_INFINITY;

  takeOver({ names, floorMs }: SilentMembers): void {
    for (const [name, heardMs] of names) this.names.set(name, heardMs);
    this.floorMs = floorMs;
  }

  /**
   * The time that the next silence counts from; Infinity where there is none to wait for. A step early, since the
   * phase of the group's grid may move.
   */
  sinceMs(group: SilentGroup): number {
    const { freq, latenessMs } = group.bound.config.settings;
    const limitMs = limitOf(group);
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const member of group.members) {
      const heardMs = this.#heardMs(group, member);
      if (this.names.has(member.series) || heardMs + limitMs < this.#lookedMs) continue;
      sinceMs = Math.min(sinceMs, heardMs);
    }
    return sinceMs - meanStepMs(freq) + latenessMs;
  }

  /** Whether a member has stopped by an event time of the partition. */
  isDue(group: SilentGroup, clockMs: number): boolean {
    return this.#due(group, clockMs).length > 0;
  }

  /** Says which members have stopped. Returns whether all are silent. */
  fallSilent(group: SilentGroup, { record, silence }: ReceivedObservation, sink: ScoreSink): boolean {
    const { bound, members, events } = group;
    const { freq, silenceAfter } = bound.config.settings;
    const cause = silence?.cause ?? null;
    const clockMs = cause === 'clock' ? Number.POSITIVE_INFINITY : record.timestampMs;
    for (const member of this.#due(group, clockMs)) {
      const { series, detector } = member;
      const newest = newestOf(group, series);
      if (!isNewsSilent(detector, silenceAfter!, member.newest + 1)) continue;
      this.#remember(
        series,
        Math.max(gridTime(freq, group.originMs, newest) + meanStepMs(freq) / 2, waitingMs(group, series)),
      );
      const pending = group.pending.findLast(({ observations }) => observations.has(series))?.observations.get(series);
      const value = pending?.value ?? detector.rings.scalar(SCALARS.resolution);
      const lastOffset = pending?.offset ?? member.newestOffset;
      const timestampMs = Math.round(gridTime(freq, group.originMs, newest + silenceAfter!));
      const input = { ...group.place, offset: lastOffset };
      const said = {
        state: 'silent',
        cause,
        series,
        timestampMs,
        bound,
        detector,
        input,
        position: newest + 1,
      } as const;
      sink.silence({ ...silenceRecord(said, value), group: group.group }, record.offset);
      const isLast = members.every((one) => this.names.has(one.series));
      events.memberSilent(
        { timestampMs, offset: record.offset, position: newest + 1, lastOffset, series, isLast },
        sink,
      );
    }
    if (Number.isFinite(clockMs)) this.#lookedMs = clockMs;
    return members.length > 0 && members.every(({ series }) => this.names.has(series));
  }

  /** A member was observed: it is back where it was silent. */
  observed(group: SilentGroup, member: Member, at: ReturnedAt, sink: ScoreSink): void {
    // What waited for older records, or for its time step, does not show that it is back.
    if (!((this.names.get(member.series) ?? Number.POSITIVE_INFINITY) < at.timestampMs)) return;
    this.names.delete(member.series);
    const { bound, place } = group;
    const { series, detector } = member;
    const { timestampMs, value, offset, position } = at;
    const input = { ...place, offset };
    const said = { state: 'returned', cause: null, series, timestampMs, bound, detector, input, position } as const;
    sink.silence({ ...silenceRecord(said, value), group: group.group }, offset);
  }

  /** After a time step: the event ends with the last silent member, which has returned or left the group. */
  conclude(
    { members, events }: SilentGroup,
    at: { timestampMs: number; offset: number; position: number },
    sink: ScoreSink,
  ): void {
    if (events.isSilent && !members.some(({ series }) => this.names.has(series))) events.returned(at, sink);
  }

  #remember(series: string, heardMs: number): void {
    this.names.set(series, heardMs);
    const [oldest] = this.names.keys();
    if (this.names.size > SILENT_MAX) this.names.delete(oldest);
  }

  #heardMs(group: SilentGroup, { series }: Member): number {
    const { freq } = group.bound.config.settings;
    const newestMs = gridTime(freq, group.originMs, newestOf(group, series));
    return Math.max(newestMs, waitingMs(group, series), this.floorMs);
  }

  #due(group: SilentGroup, clockMs: number): Member[] {
    const limitMs = limitOf(group);
    return group.members
      .filter((member) => !this.names.has(member.series) && this.#heardMs(group, member) + limitMs < clockMs)
      .sort((a, b) => newestOf(group, a.series) - newestOf(group, b.series) || (a.series < b.series ? -1 : 1));
  }
}

interface ReturnedAt {
  readonly timestampMs: number;
  readonly value: number;
  readonly offset: number;
  readonly position: number;
}

function limitOf({ bound }: SilentGroup): number {
  const { settings } = bound.config;
  // What waits for older records is given to the group before its series is silent.
  return (silenceMs(settings) ?? Number.POSITIVE_INFINITY) + settings.latenessMs;
}

/** Newest time of its records that wait for older ones; -Infinity without any. */
function waitingMs({ buffered }: SilentGroup, series: string): number {
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...buffered.filter((one) => one.series === series).map(({ timestampMs }) => timestampMs),
  );
}
