import type { ArrivalState } from '../../checkpoint/arrival-state.ts';
import { type ChangelogSeries, type DeltaLogRecord, memberKey } from '../../checkpoint/delta-log.ts';
import {
  type DepartedMember,
  type GroupState,
  type Member,
  readGroupChange,
  readGroupState,
  writeGroupChange,
  writeGroupState,
} from '../../checkpoint/group-state.ts';
import { GroupChanges, keepPending, type PendingStep } from '../../checkpoint/pending-steps.ts';
import { closedWindowKeys } from '../../checkpoint/series/series-state.ts';
import type { StateReader, StateWriter } from '../../checkpoint/state-bytes.ts';
import type { SeriesMemory } from '../../detection/memory/series-memory.ts';
import { emptyProfile, type ProfileState } from '../../detection/profile/profile-layout.ts';
import { type GroupDetection, GroupDetector } from '../../detection/series/group-detector.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { InputPlace, RestartReason } from '../../records/score-record.ts';
import { type LoadedDetector, phaseOf } from '../unit/loaded-detector.ts';
import { OpenSteps } from '../unit/open-steps.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { isOther, isScorable, refuse, refuseLate, refuseValue } from '../unit/refused-observations.ts';
import type { Scorable, ScorableOptions } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { UnitEvents } from '../unit/unit-events.ts';
import { WaitingArrivals } from '../unit/waiting-arrivals.ts';
import { depart } from './departed-members.ts';
import { groupPhase, positionInGroup } from './group-grid.ts';
import { hasRoomFor, makeRoom, whyFull } from './group-room.ts';
import { GroupSilence, newestMsOf } from './group-silence.ts';
import { countPlaced, isNextReady, newestOf, pendingObservation, updateMembers, waitForLate } from './group-steps.ts';
import { publishStep } from './publish-step.ts';

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
export class ScoredGroup implements Scorable, GroupState {
  readonly key: string;
  readonly group: string;
  readonly loaded: LoadedDetector;
  readonly events: UnitEvents;
  readonly digest: string;
  readonly #memory: SeriesMemory;
  readonly place: InputPlace;
  readonly #recordKey: Buffer;
  detector: GroupDetector;
  members: Member[] = [];
  /** Series whose first observation was late, and its position. Steps wait for them, so that none is late for ever. */
  joining = new Map<string, number>();
  departed = new Map<string, DepartedMember>();
  pending: PendingStep[] = [];
  originMs = Number.NaN;
  newest = -1;
  newestOffset = -1;
  arrivedMs = Number.NaN;
  #lastSeenMs = Number.NEGATIVE_INFINITY;
  readonly silence = new GroupSilence();
  silent = false;
  readonly waiting: WaitingArrivals;
  deltaLogRecord: DeltaLogRecord | null = null;
  openStateBytes = 0;
  changeBytes = 0;
  watches = 0;
  readonly changes = new GroupChanges();
  /** Pending steps are scored without waiting, because the group is about to start over. */
  #flushing = false;
  restarted: RestartReason | null = null;

  constructor({ key, group, context: { loaded, memory, place } }: ScorableOptions & { readonly group: string }) {
    this.key = key;
    this.group = group;
    this.loaded = loaded;
    this.digest = loaded.digest;
    this.#memory = memory;
    this.place = place;
    this.#recordKey = Buffer.from(group);
    this.events = new UnitEvents({ loaded, key: this.key, group, place, heldEvents: null });
    const steps = OpenSteps.of(loaded.config.settings, { ...place, group });
    this.waiting = new WaitingArrivals({ steps, heldArrivals: null });
    this.detector = new GroupDetector(loaded.config.settings, memory, phaseOf(loaded, group));
  }

  /** Records of the time steps that were not scored. */
  pendingRecords(): ReceivedObservation[] {
    const { group, place } = this;
    const all = this.pending.flatMap(({ observations }) => [...observations]);
    return all.map(([series, { timestampMs, value, offset, headers }]) => {
      const record = { ...place, offset, timestampMs, key: this.#recordKey, value: null, ...(headers && { headers }) };
      return { series, group, timestampMs, value, record };
    });
  }

  get lastSeenMs(): number {
    return this.#lastSeenMs;
  }

  /** Its members count from then on, too. */
  set lastSeenMs(ms: number) {
    this.#lastSeenMs = ms;
    if (Number.isFinite(ms)) this.silence.floorMs = ms;
  }

  newestMsOf(series: string): number {
    return newestMsOf(this, series);
  }

  silenceSinceMs(): number {
    return this.silence.sinceMs(this);
  }

  isSilenceDue(watermarkMs: number): boolean {
    return this.silence.isDue(this, watermarkMs);
  }

  seriesAwaited(silenceAfter: number | null): number {
    return this.silence.awaited(this.members, silenceAfter);
  }

  ingest(observation: ReceivedObservation, sink: ScoreSink): boolean {
    if (!this.settle(sink)) return false;
    if (observation.silence !== undefined) {
      this.silent = this.silence.fallSilent(this, observation, sink);
      return true;
    }
    const { gapLimit } = this.loaded.config.settings;
    if (Number.isNaN(this.originMs)) this.originMs = observation.timestampMs;
    const position = positionInGroup(this, observation, this.loaded.config.settings);
    if (position - this.newest - 1 > gapLimit && this.newest >= 0) {
      if (this.pending.length > 0) return this.settle(sink, true) && this.ingest(observation, sink);
      sink.lifecycle.restarted('gap');
      this.events.startOver({ ...observation, offset: observation.record.offset }, sink);
      for (const member of this.members) sink.state.windowsDeleted(closedWindowKeys(member));
      this.startOver('gap');
      return this.ingest(observation, sink);
    }
    const newest = newestOf(this, observation.series);
    // Its point may have no value, and so no row.
    const apart = this.waiting.steps?.apartFromBase(observation) ?? 'next';
    if (position === newest || apart === 'duplicate') this.#repeated(observation, position, sink);
    else if (position < newest || position < this.detector.positions || apart === 'late') {
      refuseLate(observation, this.loaded, sink);
      waitForLate(this, { series: observation.series, position, newest }, this.loaded);
    } else {
      const { steps } = this.waiting;
      const value = steps === null ? observation.value : steps.valueAt(observation);
      steps?.passed(observation, this.loaded, sink);
      if (!isScorable(value)) refuseValue(value, observation, this.loaded, sink);
      else {
        countPlaced({ position, newest }, this.loaded, sink);
        this.#keep(position, value === observation.value ? observation : { ...observation, value }, sink);
      }
    }
    return this.settle(sink) || this.#stall();
  }

  #repeated(observation: ReceivedObservation, position: number, sink: ScoreSink): void {
    const { steps } = this.waiting;
    const { series } = observation;
    const seen = this.pending.find((step) => step.position === position)?.observations.get(series) ?? null;
    if (isOther(steps === null ? seen : steps.baseOf(series), observation))
      sink.counters.suspect('conflicts', this.loaded, series);
    else sink.counters.duplicate(this.loaded, 0);
  }

  /** Scores every time step that is ready. */
  settle(sink: ScoreSink, isLast = false): boolean {
    this.#flushing ||= isLast;
    if (this.detector.forecastDue && this.#nextIsReady()) return false;
    while (this.#nextIsReady()) {
      if (this.detector.forecastDue && !this.#passCutoff()) return false;
      this.#updateMembers(this.pending[0], sink);
      if (this.detector.forecastDue) return false;
      this.#scoreStep(sink);
    }
    this.#flushing = false;
    return true;
  }

  replay(): boolean {
    return true;
  }

  /** Returns false when forecasts are due. Those that cover missing steps alone are not made. */
  #passCutoff(): boolean {
    const { h } = this.loaded.config.settings;
    if ((this.pending[0]?.position ?? 0) < this.detector.positions + h) return false;
    for (const member of this.forecastsDue()) member.forecasted(null);
    return true;
  }

  /** The observation is accepted, but the step that it completed waits for forecasts. */
  #stall(): true {
    this.waiting.awaitForecast(null);
    return true;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.members.filter((member) => member.forecastDue);
  }

  startOver(reason: RestartReason | null): void {
    if (reason !== 'gap') this.departed.clear();
    else for (const member of this.members) depart(this, member, this.loaded.config.settings);
    this.release();
    const { loaded, group } = this;
    this.detector = new GroupDetector(loaded.config.settings, this.#memory, phaseOf(loaded, group));
    this.members = [];
    this.joining = new Map();
    this.pending = [];
    this.originMs = Number.NaN;
    this.newest = -1;
    this.restarted = reason;
    this.changes.everything();
  }

  changelogSeries(): readonly ChangelogSeries[] {
    return this.members;
  }

  release(): void {
    for (const { detector } of this.members) detector.release();
  }

  writeOpenState(writer: StateWriter): void {
    writeGroupState(writer, this);
  }

  writeChange(writer: StateWriter): boolean {
    return writeGroupChange(writer, this);
  }

  readOpenState(reader: StateReader): void {
    readGroupState(reader, this);
  }

  readChange(reader: StateReader): void {
    readGroupChange(reader, this);
  }

  resumeArrivals(arrivals: ArrivalState): void {
    this.waiting.resume(arrivals.waiting, { group: this.group, partition: this.place.partition });
    this.lastSeenMs = arrivals.lastSeenMs ?? Number.NEGATIVE_INFINITY;
    this.silent = arrivals.silent;
    const { freq } = this.loaded.config.settings;
    const newest = freq.kind === 'fixed' && this.newest >= 0 ? this.originMs + this.newest * freq.stepMs : Number.NaN;
    this.arrivedMs = Number.isNaN(arrivals.arrivedMs) ? newest : arrivals.arrivedMs;
  }

  resumeMember(series: string, startOffset: number, newest: number): Member {
    const key = memberKey(this.key, series);
    const detector = this.detector.resumeMember();
    const member = { key, series, startOffset, newest, newestOffset: -1, detector };
    this.members.push(member);
    return member;
  }

  resumeDeparted(series: string, atMs: number): ProfileState | null {
    const { profile: layout } = this.loaded.layout;
    if (layout === null) return null;
    const profile = emptyProfile(layout);
    this.departed.set(series, { profile, atMs });
    return profile;
  }

  #keep(position: number, observation: ReceivedObservation, sink: ScoreSink): void {
    if (!hasRoomFor(this, observation.series, this.loaded)) {
      refuse(observation, { reason: 'group-full', detail: whyFull(this.group) }, { loaded: this.loaded, sink });
      return;
    }
    makeRoom(this, observation.series, this.loaded);
    const added = pendingObservation(observation);
    keepPending(this.pending, position, added);
    this.changes.added.push({ position, ...added });
    this.newest = Math.max(this.newest, position);
    this.originMs = groupPhase(this, observation, { position, freq: this.loaded.config.settings.freq });
  }

  #nextIsReady(): boolean {
    if (this.#flushing && this.detector.positions <= this.newest) return true;
    return isNextReady(this, this.loaded.config.settings);
  }

  #updateMembers(step: PendingStep | undefined, sink: ScoreSink): void {
    const onLeft = (member: Member) => sink.state.windowsDeleted(closedWindowKeys(member));
    updateMembers(this, step, { settings: this.loaded.config.settings, onLeft });
  }

  #scoreStep(sink: ScoreSink): void {
    const position = this.detector.positions;
    const step = this.pending[0]?.position === position ? this.pending.shift()! : null;
    publishStep(this, { position, step, scored: this.#detect(step, sink), recordKey: this.#recordKey }, sink);
    if (step !== null) [this.restarted, this.silent] = [null, false];
  }

  /** Moves on by one time step, which has the time of its first observation; null: nothing was observed in it. */
  #detect(step: PendingStep | null, sink: ScoreSink): GroupDetection {
    const { positions } = this.detector;
    const windowStart = this.members[0]?.detector.windowStart;
    const values = this.members.map((member) => {
      const observation = step?.observations.get(member.series);
      if (observation === undefined) return Number.NaN;
      [member.newest, member.newestOffset] = [positions, observation.offset];
      return observation.value;
    });
    const [first] = step?.observations.values() ?? [];
    const scored = this.detector.score(values, first?.timestampMs);
    if (this.members[0]?.detector.windowStart !== windowStart)
      this.members.forEach(sink.state.windowClosed, sink.state);
    return scored;
  }
}
