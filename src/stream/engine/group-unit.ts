import { gridPosition } from '../../calendar/frequency.ts';
import { type GroupDetection, GroupDetector } from '../../detector/group-detector.ts';
import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { SeriesMemory } from '../../detector/series-memory.ts';
import { groupKey, memberKey, type Track } from '../changelog/changelog-series.ts';
import {
  type GroupState,
  type Member,
  type PendingObservation,
  type PendingStep,
  readGroupHead,
  writeGroupHead,
} from '../changelog/group-state.ts';
import type { JournalRecord } from '../changelog/journal.ts';
import { closedWindowKeys, openStateBytesMax } from '../changelog/series-state.ts';
import type { StateReader, StateWriter } from '../changelog/state-bytes.ts';
import { type InputPlace, numberOrNull, type RestartReason, type ScoreRecord } from '../record/score-record.ts';
import type { Arrival, ScoreSink } from './batch-outcome.ts';
import type { WatchedDetector } from './bound-detector.ts';
import type { WatchedUnit } from './detection-unit.ts';
import { lateness } from './series-unit.ts';

/** Members of one group, fewer where windows are long; a further one goes to dead-letters. */
const GROUP_MEMBERS_MAX = 1_000;
/** The open state of a group, waiting steps included, lies in one record of the changelog, below the broker's megabyte. */
const GROUP_STATE_BYTES_MAX = 700_000;
const WAITING_BYTES = 32;

/**
 * Series that are judged together, step by step. A time step is scored when every member has it, or once one lies more than `grace`
 * steps ahead of it; then those without an observation count as missing.
 *
 *   grace 1      a: 0 1 2 . 4          step 3 of b is there, of a it is not: it waits
 *                b: 0 1 2 3 4 5        step 5 arrives: step 3 is scored without a
 *
 * A member that was missing for more than `gapLimit` steps is no member any more; it begins anew when it returns.
 * The first step waits out its grace in any case: until then nobody knows who the members are.
 */
export class GroupUnit implements WatchedUnit, GroupState {
  readonly key: string;
  readonly group: string;
  readonly watched: WatchedDetector;
  readonly #memory: SeriesMemory;
  readonly #place: InputPlace;
  readonly #recordKey: Buffer;
  detector: GroupDetector;
  /** Aligned with `detector.members`. */
  members: Member[] = [];
  /**
   * Series that were seen too late for their step, and their positions then: steps wait for them from now on, or they would be late
   * for ever behind members that are quicker.
   */
  joining = new Map<string, number>();
  /** By position, ascending. */
  pending: PendingStep[] = [];
  originMs = Number.NaN;
  /** Newest position of any observation. */
  newest = -1;
  newestOffset = -1;
  waiting: Arrival[] | null = null;
  journalRecord: JournalRecord | null = null;
  headBytes = 0;
  /** Everything pending is to be scored without waiting, since the group is about to start over. */
  #flushing = false;
  restarted: RestartReason | null = null;

  constructor(group: string, watched: WatchedDetector, memory: SeriesMemory, place: InputPlace) {
    this.key = groupKey(watched.config.name, group);
    this.group = group;
    this.watched = watched;
    this.#memory = memory;
    this.#place = place;
    this.#recordKey = Buffer.from(group);
    this.detector = new GroupDetector(watched.config.settings, memory);
  }

  take(arrival: Arrival, sink: ScoreSink): boolean {
    if (!this.settle(sink)) return false;
    const { freq, gapLimit } = this.watched.config.settings;
    if (Number.isNaN(this.originMs)) this.originMs = arrival.timestampMs;
    const position = gridPosition(freq, this.originMs, arrival.timestampMs);
    if (position - this.newest - 1 > gapLimit && this.newest >= 0) {
      if (this.pending.length > 0) {
        this.#flushing = true;
        return this.take(arrival, sink);
      }
      sink.restarted('gap');
      for (const member of this.members) sink.windowsGone(closedWindowKeys(member));
      this.startOver('gap');
      return this.take(arrival, sink);
    }
    const newest = this.#newestOf(arrival.series);
    if (position === newest) sink.duplicate();
    else if (position < newest || position < this.detector.positions) {
      sink.deadLetter('late', lateness(arrival.timestampMs), arrival, this.watched.config.name);
      if (newest < 0 && this.#hasRoomFor(arrival.series)) this.joining.set(arrival.series, position);
    } else this.#keep(position, arrival, sink);
    return this.settle(sink) || this.#stall();
  }

  /** Scores every time step that is ready. */
  settle(sink: ScoreSink): boolean {
    while (this.#nextIsReady()) {
      if (this.detector.forecastDue) return false;
      this.#admitMembers(sink);
      if (this.detector.forecastDue) return false;
      this.#scoreStep(sink);
    }
    this.#flushing = false;
    return true;
  }

  /** The arrival is taken; what it completed waits for forecasts (`waiting` says so without naming an arrival). */
  #stall(): true {
    this.waiting ??= [];
    return true;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.members.filter((member) => member.forecastDue);
  }

  /** Begins at position 0 with the next arrival. */
  startOver(reason: RestartReason | null): void {
    this.release();
    this.detector = new GroupDetector(this.watched.config.settings, this.#memory);
    this.members = [];
    this.joining = new Map();
    this.pending = [];
    this.originMs = Number.NaN;
    this.newest = -1;
    this.restarted = reason;
  }

  tracks(): readonly Track[] {
    return this.members;
  }

  release(): void {
    for (const { detector } of this.members) detector.release(this.#memory);
  }

  writeHead(writer: StateWriter): void {
    writeGroupHead(writer, this);
  }

  readHead(reader: StateReader): void {
    readGroupHead(reader, this);
  }

  /** Takes up a member from the changelog. */
  resumeMember(series: string, era: number, newest: number): SeriesDetector {
    const detector = this.detector.resumeMember();
    this.members.push({ key: memberKey(this.key, series), series, era, newest, detector });
    return detector;
  }

  #newestOf(series: string): number {
    for (let i = this.pending.length - 1; i >= 0; i--) {
      if (this.pending[i].observations.has(series)) return this.pending[i].position;
    }
    return this.members.find((member) => member.series === series)?.newest ?? -1;
  }

  #keep(position: number, arrival: Arrival, sink: ScoreSink): void {
    const { timestampMs, value, record, series } = arrival;
    if (!this.#hasRoomFor(series)) {
      const detail = `group ${JSON.stringify(this.group)} has as many members as it may have`;
      sink.deadLetter('group-full', detail, arrival, this.watched.config.name);
      return;
    }
    const found = this.pending.findIndex((step) => step.position >= position);
    const at = found < 0 ? this.pending.length : found;
    let step = this.pending[at];
    if (step?.position !== position) {
      step = { position, observations: new Map() };
      this.pending.splice(at, 0, step);
    }
    step.observations.set(series, { timestampMs, value, offset: record.offset });
    this.newest = Math.max(this.newest, position);
  }

  /** Who waits for a first step, or is waited for, takes the room of a member already. */
  #hasRoomFor(series: string): boolean {
    if (this.members.some((member) => member.series === series)) return true;
    const { layout, config } = this.watched;
    const openBytes = openStateBytesMax(layout, config.settings);
    const ids = new Set([...this.members.map((member) => member.series), ...this.joining.keys(), series]);
    for (const { observations } of this.pending) for (const id of observations.keys()) ids.add(id);
    let bytes = 0;
    for (const id of ids) bytes += openBytes + (Buffer.byteLength(id) + WAITING_BYTES) * (config.settings.grace + 3);
    return ids.size <= GROUP_MEMBERS_MAX && bytes <= GROUP_STATE_BYTES_MAX;
  }

  #nextIsReady(): boolean {
    const position = this.detector.positions;
    if (position > this.newest) return false;
    if (this.#flushing || this.newest - position > this.watched.config.settings.grace) return true;
    const step = this.pending[0];
    if (position === 0 || step?.position !== position) return false;
    const isThere = (series: string, newest: number) => step.observations.has(series) || this.#isGone(newest, position);
    for (const [series, newest] of this.joining) if (!isThere(series, newest)) return false;
    return this.members.every(({ series, newest }) => isThere(series, newest));
  }

  #isGone(newest: number, position: number): boolean {
    return position - newest - 1 > this.watched.config.settings.gapLimit;
  }

  /** Who is gone leaves before the next step, who is new in it joins. */
  #admitMembers(sink: ScoreSink): void {
    const position = this.detector.positions;
    for (let i = this.members.length - 1; i >= 0; i--) {
      const member = this.members[i];
      if (!this.#isGone(member.newest, position)) continue;
      sink.windowsGone(closedWindowKeys(member));
      this.members.splice(i, 1);
      this.detector.removeMember(i);
    }
    const step = this.pending[0];
    for (const [series, newest] of this.joining) {
      if (step?.observations.has(series) || this.#isGone(newest, position)) this.joining.delete(series);
    }
    if (step?.position !== position) return;
    for (const [series, { offset }] of step.observations) {
      if (this.members.some((member) => member.series === series)) continue;
      const detector = this.detector.addMember();
      this.members.push({ key: memberKey(this.key, series), series, era: offset, newest: position, detector });
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
      sink.score(this.#scoreOf(member, i, observation, scored), this.#recordKey);
    });
    if (step !== null) this.restarted = null;
  }

  #scoreOf(
    member: Member,
    index: number,
    { timestampMs, value, offset }: PendingObservation,
    scored: GroupDetection,
  ): ScoreRecord {
    const { config, modelDigest } = this.watched;
    const detection = scored.members[index];
    const judged = detection.state === 'calibrating' || detection.state === 'scored';
    return {
      series: member.series,
      detector: config.name,
      model: config.model,
      modelDigest,
      group: this.group,
      timestampMs,
      value,
      forecast: numberOrNull(detection.forecast),
      lo: null,
      hi: null,
      level: config.settings.level,
      anomalyScore: numberOrNull(detection.score),
      accumulatedAnomalyScore: numberOrNull(scored.accumulatedScore),
      anomaly: scored.anomaly,
      state: judged ? (scored.calibrated ? 'scored' : 'calibrating') : detection.state,
      position: detection.position,
      window: { start: detection.windowStart, end: detection.windowStart + config.settings.detectionSize },
      restarted: this.restarted !== null,
      input: { ...this.#place, offset },
    };
  }
}
