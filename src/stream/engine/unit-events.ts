import { createHash } from 'node:crypto';
import { meanStepMs } from '../../calendar/frequency.ts';
import type { AnomalyEvent, CloseReason } from '../../detector/event.ts';
import {
  type EventRow,
  type EventSubject,
  EventTracker,
  mayMatter,
  NOTHING_KEPT,
} from '../../detector/event-tracker.ts';
import { conclude, type OpenEvent, revise } from '../../detector/open-event.ts';
import { concludeSilence, silenceEvent } from '../../detector/silence-event.ts';
import type { EventState } from '../changelog/event-state.ts';
import type { InputPlace } from '../record/score-record.ts';
import type { ScoreSink } from './batch-outcome.ts';
import type { BoundDetector } from './bound-detector.ts';

/** The series or group whose events they are. One of both is null. */
export interface EventOwner {
  readonly bound: BoundDetector;
  readonly series: string | null;
  readonly group: string | null;
  readonly place: InputPlace;
}

/** The events of a unit. It holds nothing while there are none. */
export class UnitEvents {
  readonly #owner: EventOwner;
  #tracker: EventTracker | null = null;
  /** Key of the scores. */
  #key: Buffer | null = null;
  /** The event of a series that sends nothing. */
  #silence: OpenEvent | null = null;
  /** Newest offset so far: a record that was held back is older than those before it. */
  #newestOffset = -1;

  constructor(owner: EventOwner) {
    this.#owner = owner;
  }

  /** Mean length of a time step. */
  get stepMs(): number {
    return meanStepMs(this.#owner.bound.config.settings.freq);
  }

  /** Whether a row may change something. Others need not be made. */
  wants(alarm: boolean, value: number): boolean {
    const { events } = this.#owner.bound.config;
    return this.#tracker === null ? mayMatter(alarm, value, events) : this.#tracker.wants(alarm, value);
  }

  /** @param key of the scores */
  observe(row: EventRow, key: Buffer | null, sink: ScoreSink): void {
    this.#tracker ??= new EventTracker(subjectOf(this.#owner));
    this.#key = key;
    const event = this.#tracker.observe(row);
    if (event !== null) this.#publish(event, row.offset, sink);
    if (this.#tracker.kept() === null) this.#tracker = null;
  }

  /** The unit ends, or starts over. */
  close(reason: CloseReason, at: UnitMoment, sink: ScoreSink): void {
    const event = this.#tracker?.close(reason, at.timestampMs) ?? null;
    if (event !== null) this.#publish(event, at.offset, sink);
    this.#tracker = null;
    if (this.#silence !== null) this.#publish(conclude(this.#silence, reason, at.timestampMs), at.offset, sink);
    this.#silence = null;
  }

  /** The series has stopped. `lastOffset` is that of its last observation. */
  fallSilent(at: UnitMoment & { readonly position: number; readonly lastOffset: number }, sink: ScoreSink): void {
    const { series, group } = this.#owner;
    this.#key ??= Buffer.from(group ?? series ?? '');
    this.close('silent', at, sink);
    this.#silence = silenceEvent(subjectOf(this.#owner), { ...at, offset: at.lastOffset });
    if (this.#silence !== null) this.#publish(revise(this.#silence, 'opened', at.timestampMs), at.offset, sink);
  }

  /** It sends again. */
  returned(at: UnitMoment & { readonly position: number }, sink: ScoreSink): void {
    if (this.#silence !== null) this.#publish(concludeSilence(this.#silence, at), at.offset, sink);
    this.#silence = null;
  }

  #publish(event: AnomalyEvent, offset: number, sink: ScoreSink): void {
    this.#newestOffset = Math.max(this.#newestOffset, offset);
    sink.event(event, { key: this.#key, offset: this.#newestOffset });
  }

  state(): EventState | null {
    const kept = this.#tracker?.kept() ?? null;
    if (kept === null && this.#silence === null) return null;
    return { ...NOTHING_KEPT, ...kept, silence: this.#silence, key: this.#key?.toString('latin1') ?? null };
  }

  resume(state: EventState | null): void {
    if (state === null) return;
    this.#tracker = new EventTracker(subjectOf(this.#owner));
    this.#tracker.resume(state);
    if (this.#tracker.kept() === null) this.#tracker = null;
    this.#silence = state.silence;
    this.#key = keyOf(state);
  }
}

/** Where something came to an end, or began. */
interface UnitMoment {
  readonly timestampMs: number;
  readonly offset: number;
}

export function keyOf({ key }: EventState): Buffer | null {
  return key === null ? null : Buffer.from(key, 'latin1');
}

function subjectOf({ bound, series, group, place }: EventOwner): EventSubject {
  const { name: detector, labels, events: rules, settings } = bound.config;
  return {
    detector,
    series,
    group,
    labels,
    rules,
    gap: settings.detectionSize,
    stepMs: meanStepMs(settings.freq),
    idOf: (start) => digestOf([series, group, detector, place.partition, start]),
  };
}

/** 32 hexadecimal digits. */
function digestOf(parts: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
