import { gridPosition } from '../../calendar/frequency.ts';
import { GroupDetector } from '../../detector/group-detector.ts';

import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { SeriesMemory } from '../../detector/series-memory.ts';
import { type ArrivalState, NO_HELD } from '../changelog/arrival-state.ts';
import { type ChangelogSeries, groupKey, memberKey } from '../changelog/changelog-series.ts';
import {
  type GroupState,
  type Member,
  type PendingStep,
  readGroupState,
  writeGroupState,
} from '../changelog/group-state.ts';
import type { JournalRecord } from '../changelog/journal.ts';
import { closedWindowKeys, openStateBytesMax } from '../changelog/series-state.ts';
import type { StateReader, StateWriter } from '../changelog/state-bytes.ts';
import type { InputPlace, RestartReason } from '../record/score-record.ts';
import { type DeadLetterCause, type ReceivedObservation, receivedAgain, type ScoreSink } from './batch-outcome.ts';
import type { BoundDetector } from './bound-detector.ts';
import type { DetectionUnit, UnitOptions } from './detection-unit.ts';

import { followStep, NOTHING_OBSERVED } from './group-events.ts';
import { memberScore } from './member-score.ts';

import { lateness } from './series-unit.ts';
import { UnitEvents } from './unit-events.ts';

/** Most members of a group; fewer where windows are long. Observations of a further one go to the dead letters. */
const GROUP_MEMBERS_MAX = 1_000;
/** The open state of a group, pending steps included, is one record, below the broker's limit of 1 MiB. */
const GROUP_STATE_BYTES_MAX = 700_000;
const PENDING_BYTES = 32;

/**
 * Series that are scored together, step by step. A time step is scored when every member has an observation of it, or
 * when one member is more than `grace` steps ahead. Then members without an observation count as missing.
 *
 *   grace 1      a: 0 1 2 . 4          b has step 3, a has not: the step waits
 *                b: 0 1 2 3 4 5        step 5 arrives: step 3 is scored without a
 *
 * A member that is missing for more than `detectionSize` steps is not waited for. After `gapLimit` steps it leaves the
 * group, and joins as a new member when it returns. The first step always waits for its grace.
 */
export class GroupUnit implements DetectionUnit, GroupState {
  readonly key: string;
  readonly group: string;
  readonly bound: BoundDetector;
  readonly events: UnitEvents;
  readonly digest: string;
  readonly #memory: SeriesMemory;
  readonly #place: InputPlace;
  readonly #recordKey: Buffer;
  detector: GroupDetector;
  /** Aligned with `detector.members`. */
  members: Member[] = [];
  /**
   * Series whose first observation was late, and its position. Further steps wait for them. Otherwise a series that is
   * slower than the members would be late for ever.
   */
  joining = new Map<string, number>();
  /** By position, ascending. */
  pending: PendingStep[] = [];
  originMs = Number.NaN;
  /** Newest position of any observation. */
  newest = -1;
  newestOffset = -1;
  arrivedMs = Number.NaN;
  heardMs = Number.NEGATIVE_INFINITY;
  silent = false;
  held: readonly ReceivedObservation[] = NO_HELD;
  buffered: readonly ReceivedObservation[] = NO_HELD;
  waiting: ReceivedObservation[] | null = null;
  journalRecord: JournalRecord | null = null;
  openStateBytes = 0;
  /** Pending steps are scored without waiting, because the group is about to start over. */
  #flushing = false;
  restarted: RestartReason | null = null;

  constructor({ group, bound, memory, place }: UnitOptions & { readonly group: string }) {
    this.key = groupKey(bound.config.name, group);
    this.group = group;
    this.bound = bound;
    this.digest = bound.digest;
    this.#memory = memory;
    this.#place = place;
    this.#recordKey = Buffer.from(group);
    this.events = new UnitEvents({ bound, series: null, group, place });
    this.detector = new GroupDetector(bound.config.settings, memory);
  }

  take(observation: ReceivedObservation, sink: ScoreSink): boolean {
    if (!this.settle(sink)) return false;
    const { freq, gapLimit } = this.bound.config.settings;
    if (Number.isNaN(this.originMs)) this.originMs = observation.timestampMs;
    const position = gridPosition(freq, this.originMs, observation.timestampMs);
    if (position - this.newest - 1 > gapLimit && this.newest >= 0) {
      if (this.pending.length > 0) {
        this.#flushing = true;
        return this.take(observation, sink);
      }
      sink.restarted('gap');
      this.events.close('silent', { ...observation, offset: observation.record.offset }, sink);
      for (const member of this.members) sink.windowsDeleted(closedWindowKeys(member));
      this.startOver('gap');
      return this.take(observation, sink);
    }
    const newest = this.#newestOf(observation.series);
    if (position === newest) sink.duplicate();
    else if (position < newest || position < this.detector.positions) {
      this.#deadLetter(observation, { reason: 'late', detail: lateness(observation.timestampMs) }, sink);
      if (newest < 0 && this.#hasRoomFor(observation.series)) this.joining.set(observation.series, position);
      // Steps wait for it again. Otherwise a member that is slower than the others would be late for ever.
      const returned = this.members.find(({ series }) => series === observation.series);
      if (returned !== undefined) returned.newest = Math.max(returned.newest, position);
    } else this.#keep(position, observation, sink);
    return this.settle(sink) || this.#stall();
  }

  /** Scores every time step that is ready. */
  settle(sink: ScoreSink): boolean {
    if (this.detector.forecastDue && this.#nextIsReady()) return false;
    while (this.#nextIsReady()) {
      if (this.detector.forecastDue && !this.#passCutoff()) return false;
      this.#updateMembers(sink);
      if (this.detector.forecastDue) return false;
      this.#scoreStep(sink);
    }
    this.#flushing = false;
    return true;
  }

  /** Returns false when forecasts are due. Those that cover missing steps alone are not made. */
  #passCutoff(): boolean {
    const { h } = this.bound.config.settings;
    if ((this.pending[0]?.position ?? 0) < this.detector.positions + h) return false;
    for (const member of this.forecastsDue()) member.forecasted(null);
    return true;
  }

  /** The observation is taken, but the step that it completed waits for forecasts. */
  #stall(): true {
    this.waiting ??= [];
    return true;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.members.filter((member) => member.forecastDue);
  }

  startOver(reason: RestartReason | null): void {
    this.release();
    this.detector = new GroupDetector(this.bound.config.settings, this.#memory);
    this.members = [];
    this.joining = new Map();
    this.pending = [];
    this.originMs = Number.NaN;
    this.newest = -1;
    this.restarted = reason;
  }

  changelogSeries(): readonly ChangelogSeries[] {
    return this.members;
  }

  release(): void {
    for (const { detector } of this.members) detector.release(this.#memory);
  }

  writeOpenState(writer: StateWriter): void {
    writeGroupState(writer, this);
  }

  readOpenState(reader: StateReader): void {
    readGroupState(reader, this);
  }

  resumeArrivals({ arrivedMs, held, buffered }: ArrivalState): void {
    const { freq } = this.bound.config.settings;
    const newest = freq.kind === 'fixed' && this.newest >= 0 ? this.originMs + this.newest * freq.stepMs : Number.NaN;
    this.arrivedMs = Number.isNaN(arrivedMs) ? newest : arrivedMs;
    const place = { group: this.group, partition: this.#place.partition };
    [this.held, this.buffered] = [receivedAgain(held, place), receivedAgain(buffered, place)];
  }

  resumeMember(series: string, startOffset: number, newest: number): SeriesDetector {
    const detector = this.detector.resumeMember();
    this.members.push({ key: memberKey(this.key, series), series, startOffset, newest, detector });
    return detector;
  }

  #deadLetter({ record, series }: ReceivedObservation, cause: DeadLetterCause, sink: ScoreSink): void {
    sink.deadLetter(record, { ...cause, series, detector: this.bound.config.name });
  }

  #newestOf(series: string): number {
    for (let i = this.pending.length - 1; i >= 0; i--) {
      if (this.pending[i].observations.has(series)) return this.pending[i].position;
    }
    return this.members.find((member) => member.series === series)?.newest ?? -1;
  }

  #keep(position: number, observation: ReceivedObservation, sink: ScoreSink): void {
    const { timestampMs, value, record, series } = observation;
    if (!this.#hasRoomFor(series)) {
      const detail = `group ${JSON.stringify(this.group)} has as many members as it may have`;
      this.#deadLetter(observation, { reason: 'group-full', detail }, sink);
      return;
    }
    let at = this.pending.findIndex((step) => step.position >= position);
    if (at < 0) at = this.pending.length;
    let step = this.pending[at];
    if (step?.position !== position) {
      step = { position, observations: new Map() };
      this.pending.splice(at, 0, step);
    }
    step.observations.set(series, { timestampMs, value, offset: record.offset });
    this.newest = Math.max(this.newest, position);
  }

  /** Series of pending steps and joining series count as members. */
  #hasRoomFor(series: string): boolean {
    if (this.members.some((member) => member.series === series)) return true;
    const { layout, config } = this.bound;
    const openBytes = openStateBytesMax(layout, config.settings);
    const ids = new Set([...this.members.map((member) => member.series), ...this.joining.keys(), series]);
    for (const { observations } of this.pending) for (const id of observations.keys()) ids.add(id);
    let bytes = 0;
    for (const id of ids) bytes += openBytes + (Buffer.byteLength(id) + PENDING_BYTES) * (config.settings.grace + 3);
    return ids.size <= GROUP_MEMBERS_MAX && bytes <= GROUP_STATE_BYTES_MAX;
  }

  #nextIsReady(): boolean {
    const position = this.detector.positions;
    if (position > this.newest) return false;
    if (this.#flushing || this.newest - position > this.bound.config.settings.grace) return true;
    const step = this.pending[0];
    if (position === 0 || step?.position !== position) return false;
    const isPresent = (series: string, newest: number) =>
      step.observations.has(series) || this.#isAbsent(newest, position);
    for (const [series, newest] of this.joining) if (!isPresent(series, newest)) return false;
    return this.members.every(({ series, newest }) => isPresent(series, newest));
  }

  /** Time steps do not wait for a member that is missing for so long. */
  #isAbsent(newest: number, position: number): boolean {
    return this.#hasLeft(newest, position) || position - newest - 1 > this.bound.config.settings.detectionSize;
  }

  #hasLeft(newest: number, position: number): boolean {
    return position - newest - 1 > this.bound.config.settings.gapLimit;
  }

  /** Before a step is scored: members that are missing for too long leave, new series of the step join. */
  #updateMembers(sink: ScoreSink): void {
    const position = this.detector.positions;
    for (let i = this.members.length - 1; i >= 0; i--) {
      const member = this.members[i];
      if (!this.#hasLeft(member.newest, position)) continue;
      sink.windowsDeleted(closedWindowKeys(member));
      this.members.splice(i, 1);
      this.detector.removeMember(i);
    }
    const step = this.pending[0];
    for (const [series, newest] of this.joining) {
      if (step?.observations.has(series) || this.#hasLeft(newest, position)) this.joining.delete(series);
    }
    if (step?.position !== position) return;
    for (const [series, { offset }] of step.observations) {
      if (this.members.some((member) => member.series === series)) continue;
      const detector = this.detector.addMember();
      this.members.push({ key: memberKey(this.key, series), series, startOffset: offset, newest: position, detector });
    }
  }

  #scoreStep(sink: ScoreSink): void {
    const position = this.detector.positions;
    const step = this.pending[0]?.position === position ? this.pending.shift()! : null;
    const values = this.members.map(({ series }) => step?.observations.get(series)?.value ?? Number.NaN);
    const windowStart = this.members[0]?.detector.windowStart;
    const scored = this.detector.observe(values);
    if (this.members[0]?.detector.windowStart !== windowStart) this.members.forEach(sink.windowClosed, sink);
    if (step === null) sink.gapFilled();
    this.members.forEach((member, i) => {
      const observation = step?.observations.get(member.series);
      if (observation === undefined) return;
      member.newest = position;
      const { bound, group, restarted } = this;
      const row = { group: scored, member: scored.members[i], series: member.series, observation };
      sink.score(memberScore(row, { bound, group, restarted, place: this.#place }), this.#recordKey);
    });
    if (step !== null) this.restarted = null;
    const observations = step?.observations ?? NOTHING_OBSERVED;
    followStep(
      this.events,
      { position, scored, observations, members: this.members, originMs: this.originMs },
      { key: this.#recordKey, sink },
    );
  }
}
