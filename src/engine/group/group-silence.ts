import type { GroupState, Member, SilentMembers } from '../../checkpoint/group-state.ts';
import type { OpenStepsState } from '../../checkpoint/open-step-state.ts';
import type { PendingObservation } from '../../checkpoint/pending-steps.ts';
import { SCALARS } from '../../detection/memory/series-memory.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { type Frequency, gridPosition, gridTime, meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { isNewsSilent, isShortLived, publishSilence, silenceMs } from '../unit/silence.ts';
import type { UnitEvents } from '../unit/unit-events.ts';

/** Names of members that are silent, or left so. Of more of them the oldest is forgotten. */
const SILENT_MAX = 1_000;

export interface SilentGroup extends GroupState {
  readonly group: string;
  readonly loaded: LoadedDetector;
  readonly place: InputPlace;
  readonly events: UnitEvents;
}

/**
 * Silence of the members of a group. Each is reported silent once, and returned once; what is between the first
 * that stops and the last that returns is one event of the group. A group that stops is one whose members all stop.
 */
export class GroupSilence implements SilentMembers {
  readonly names = new Map<string, number>();
  floorMs = Number.NEGATIVE_INFINITY;
  /** Event time of the partition at which all were checked. Not stored: another check gives the same result. */
  #lookedMs = Number.NEGATIVE_INFINITY;

  /**
   * The time that the next silence counts from; Infinity if there is none to wait for. A step early, since the
   * phase of the group's grid may move.
   */
  sinceMs(group: SilentGroup): number {
    const { freq, latenessMs } = group.loaded.config.settings;
    const limitMs = limitOf(group);
    let sinceMs = Number.POSITIVE_INFINITY;
    const lastSeenMs = this.#newestRecordMs(group);
    for (const member of group.members) {
      const ownMs = lastSeenMs(member);
      if (ownMs + limitMs >= this.#lookedMs) sinceMs = Math.min(sinceMs, ownMs);
    }
    return sinceMs - meanStepMs(freq) + latenessMs;
  }

  /** True if a member has stopped by an event time of the partition. */
  isDue(group: SilentGroup, watermarkMs: number): boolean {
    const limitMs = limitOf(group);
    const lastSeenMs = this.#newestRecordMs(group);
    return group.members.some((member) => lastSeenMs(member) + limitMs < watermarkMs);
  }

  /** Members that are not silent, and whose silence would be news. */
  awaited(members: readonly Member[], silenceAfter: number | null): number {
    if (silenceAfter === null) return 0;
    return members.filter(
      ({ series, detector, newest }) => !this.names.has(series) && isNewsSilent(detector, silenceAfter, newest + 1),
    ).length;
  }

  /** Reports which members have stopped. Returns whether all are silent. */
  fallSilent(group: SilentGroup, { record, silence }: ReceivedObservation, sink: ScoreSink): boolean {
    const { loaded, members, events } = group;
    const { freq, silenceAfter } = loaded.config.settings;
    const cause = silence?.cause ?? null;
    const watermarkMs = cause === 'clock' ? Number.POSITIVE_INFINITY : record.timestampMs;
    for (const { member, position, seen } of this.#due(group, watermarkMs)) {
      const { series, detector } = member;
      if (isShortLived(detector)) sink.lifecycle.endedEarly(loaded, series);
      if (!isNewsSilent(detector, silenceAfter!, member.newest + 1)) continue;
      const halfStepMs = meanStepMs(freq) / 2;
      this.#remember(series, Math.max(gridTime(freq, group.originMs, position) + halfStepMs, seen?.timestampMs ?? 0));
      const value = seen?.value ?? detector.rings.scalar(SCALARS.resolution);
      const lastOffset = seen?.offset ?? member.newestOffset;
      const timestampMs = Math.round(gridTime(freq, group.originMs, position + silenceAfter!));
      const next = { position: position + 1, timestampMs, lastOffset };
      const silence = { ...next, state: 'silent', cause, series, detector, value } as const;
      publishSilence(group, silence, { foundAt: record.offset, sink });
      const allSilent = members.every((one) => this.names.has(one.series));
      events.fallSilent({ ...next, offset: record.offset, member: series, allSilent }, sink);
    }
    if (Number.isFinite(watermarkMs)) this.#lookedMs = watermarkMs;
    return members.length > 0 && members.every(({ series }) => this.names.has(series));
  }

  /** A member was observed: it is back where it was silent. */
  endSilence(group: SilentGroup, member: Member, at: ReturnedAt, sink: ScoreSink): void {
    // A record that waited for older ones, or for its time step, does not prove that the member is back.
    if (!((this.names.get(member.series) ?? Number.POSITIVE_INFINITY) < at.timestampMs)) return;
    this.names.delete(member.series);
    const { series, detector } = member;
    const { offset, timestampMs, value, position } = at;
    const silence = { state: 'returned', cause: null, series, detector, lastOffset: offset } as const;
    publishSilence(group, { ...silence, timestampMs, value, position }, { foundAt: offset, sink });
  }

  /** After a time step: the event ends with the last silent member, which has returned or left the group. */
  conclude(
    { members, events }: SilentGroup,
    at: { timestampMs: number; offset: number; position: number },
    sink: ScoreSink,
  ): void {
    if (events.isSilent && !members.some(({ series }) => this.names.has(series))) events.returned(at, sink);
  }

  #remember(series: string, knownMs: number): void {
    this.names.set(series, knownMs);
    const [oldest] = this.names.keys();
    if (this.names.size > SILENT_MAX) this.names.delete(oldest);
  }

  /** Event time that the silence of a member counts from; Infinity where it is silent. There may be a thousand. */
  #newestRecordMs(group: SilentGroup, waiting = newestWaiting(group)): (member: Member) => number {
    const { freq } = group.loaded.config.settings;
    return (member) => {
      if (this.names.has(member.series)) return Number.POSITIVE_INFINITY;
      const { position } = standing(group, member, waiting);
      return Math.max(gridTime(freq, group.originMs, position), this.floorMs);
    };
  }

  #due(group: SilentGroup, watermarkMs: number): Standing[] {
    const limitMs = limitOf(group);
    const waiting = newestWaiting(group);
    const lastSeenMs = this.#newestRecordMs(group, waiting);
    return group.members
      .filter((member) => lastSeenMs(member) + limitMs < watermarkMs)
      .map((member) => standing(group, member, waiting))
      .sort((a, b) => a.position - b.position || (a.member.series < b.member.series ? -1 : 1));
  }
}

/** Event time of the newest step of a member; NaN if the group has none of this name. */
export function newestMsOf(group: SilentGroup, series: string): number {
  const member = group.members.find((one) => one.series === series);
  if (member === undefined) return Number.NaN;
  const { position } = standing(group, member, newestWaiting(group));
  return gridTime(group.loaded.config.settings.freq, group.originMs, position);
}

/** Newest position of a member. */
interface Standing {
  readonly member: Member;
  readonly position: number;
  /** Its observation there; null if that was scored. */
  readonly seen: Pick<PendingObservation, 'timestampMs' | 'value' | 'offset'> | null;
}

/** The newest record of each series among those that wait for older ones. */
type Waiting = ReadonlyMap<string, Omit<Standing, 'member'>>;

function newestWaiting({ waiting, originMs, loaded }: SilentGroup): Waiting {
  const { freq } = loaded.config.settings;
  if (waiting.steps !== null && waiting.outOfOrder.length === 0) return openSteps(waiting.steps, freq, originMs);
  return new Map(
    waiting.outOfOrder.map(({ series, timestampMs, value, record }) => {
      const seen = { timestampMs, value, offset: record.offset };
      return [series, { position: gridPosition(freq, originMs, timestampMs), seen }];
    }),
  );
}

/** A step that takes points shows that its series is there. */
function openSteps({ all }: OpenStepsState, freq: Frequency, originMs: number): Waiting {
  const open = [...all.values()].filter(({ steps }) => steps.length > 0);
  return new Map(
    open.map(({ series, steps }) => [
      series,
      { position: gridPosition(freq, originMs, steps[steps.length - 1].startMs), seen: null },
    ]),
  );
}

function standing({ pending }: SilentGroup, member: Member, waiting: Waiting): Standing {
  const { series } = member;
  const step = pending.findLast(({ observations }) => observations.has(series));
  const position = step?.position ?? member.newest;
  const last = waiting.get(series);
  if (last !== undefined && last.position > position) return { member, ...last };
  return { member, position, seen: step?.observations.get(series) ?? null };
}

interface ReturnedAt {
  readonly timestampMs: number;
  readonly value: number;
  readonly offset: number;
  readonly position: number;
}

function limitOf({ loaded }: SilentGroup): number {
  const { settings } = loaded.config;
  // What waits for older records is dispatched to the group before its series is silent.
  return (silenceMs(settings) ?? Number.POSITIVE_INFINITY) + settings.latenessMs;
}
