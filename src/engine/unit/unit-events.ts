import { createHash } from 'node:crypto';
import { type EventState, eventStateText } from '../../checkpoint/event-state.ts';
import { conclude, revise } from '../../detection/event/event-revision.ts';
import { EventTracker, mayMatter, NOTHING_KEPT } from '../../detection/event/event-tracker.ts';
import type { EventRow, EventSubject } from '../../detection/event/open/event-row.ts';
import { addShares } from '../../detection/event/open/member-shares.ts';
import type { OpenEvent } from '../../detection/event/open/open-event.ts';
import { concludeSilence, silenceEvent } from '../../detection/event/silence-event.ts';
import type { AnomalyEvent, CloseReason } from '../../records/anomaly-event.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { labelsOfId } from '../../records/series/series-id.ts';
import { meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { ScoreSink } from './score-sink.ts';

/** The series, or group, whose events they are. */
export interface EventOwner {
  readonly loaded: LoadedDetector;
  readonly place: InputPlace;
  /** The name of a series, or the key of a group. */
  readonly key: string;
  /** Omitted for a series. */
  readonly group?: string | null;
  /** The id of name and labels, where a template made the key. */
  readonly source?: string | null;
  /** null until there is an event: most series never have any. */
  heldEvents: HeldEvents | null;
}

export interface HeldEvents {
  tracker: EventTracker | null;
  key: Buffer | null;
  /** The event of a series that sends nothing. */
  silence: OpenEvent | null;
  /** Newest offset so far: a record that was held back is older than those before it. */
  newestOffset: number;
  /** Their state as it was written last; null once it has changed. Most rows write it, and few change it. */
  stateText: string | null;
}

/** The events of a unit. It is a view of what its owner holds, and kept by none. */
export class UnitEvents {
  readonly #owner: EventOwner;

  constructor(owner: EventOwner) {
    this.#owner = owner;
  }

  /** Every change of what is held begins with it. */
  #changed(): HeldEvents {
    this.#owner.heldEvents ??= noEvents();
    this.#owner.heldEvents.stateText = null;
    return this.#owner.heldEvents;
  }

  /** Mean length of a time step. */
  get stepMs(): number {
    return meanStepMs(this.#owner.loaded.config.settings.freq);
  }

  /** True if a row may change something. Others need not be made. */
  wants(alarm: boolean, value: number): boolean {
    const tracker = this.#owner.heldEvents?.tracker ?? null;
    return tracker === null ? mayMatter(alarm, value, this.#owner.loaded.config.events) : tracker.wants(alarm, value);
  }

  /** @param key of the scores */
  track(row: EventRow, key: Buffer | null, sink: ScoreSink): void {
    const events = this.#changed();
    events.tracker ??= new EventTracker(subjectOf(this.#owner));
    events.key = key;
    for (const event of events.tracker.track(row)) publish(events, event, { offset: row.offset, sink });
    if (events.tracker.kept() === null) events.tracker = null;
  }

  /** The unit ends, or starts over. */
  close(reason: CloseReason, { timestampMs, offset }: UnitMoment, sink: ScoreSink): void {
    if (this.#owner.heldEvents === null) return;
    const events = this.#changed();
    closeUnusual(events, reason, { timestampMs, offset }, sink);
    if (events.silence !== null) publish(events, conclude(events.silence, reason, timestampMs), { offset, sink });
    events.silence = null;
  }

  /** The unit starts over after a gap. Where its silence was reported, it is not back before its next score. */
  startOver(at: UnitMoment, sink: ScoreSink): void {
    if (this.#owner.heldEvents !== null) closeUnusual(this.#changed(), 'silent', at, sink);
  }

  /** Drops events without closing them: they were never published. */
  forget(): void {
    this.#owner.heldEvents = null;
  }

  /** The series has stopped, or a member of the group. Where all have, the event of unusual values ends. */
  fallSilent(at: StoppedMoment, sink: ScoreSink): void {
    const { key, group } = this.#owner;
    const events = this.#changed();
    events.key ??= Buffer.from(group ?? key);
    if (at.allSilent) closeUnusual(events, 'silent', at, sink);
    const isFirst = events.silence === null;
    events.silence ??= silenceEvent(subjectOf(this.#owner), {
      ...at,
      offset: at.lastOffset,
      missing: this.#owner.loaded.config.settings.silenceAfter ?? 0,
    });
    if (events.silence === null) return;
    if (at.member !== null) events.silence.shares = addShares(events.silence.shares, [{ series: at.member, sharp: 1 }]);
    if (!isFirst) return;
    publish(events, revise(events.silence, 'opened', at.timestampMs), { offset: at.offset, sink });
  }

  get isSilent(): boolean {
    return (this.#owner.heldEvents?.silence ?? null) !== null;
  }

  /** It sends again. */
  returned(at: UnitMoment & { readonly position: number }, sink: ScoreSink): void {
    if (!this.isSilent) return;
    const events = this.#changed();
    publish(events, concludeSilence(events.silence!, at), { offset: at.offset, sink });
    events.silence = null;
  }

  get stateText(): string {
    const events = this.#owner.heldEvents;
    if (events === null) return '';
    events.stateText ??= eventStateText(stateOf(events));
    return events.stateText;
  }

  resume(state: EventState | null): void {
    // What an earlier entry of the delta log holds is over.
    this.#owner.heldEvents = null;
    if (state === null) return;
    this.#owner.heldEvents ??= noEvents();
    const events = this.#owner.heldEvents;
    events.tracker = new EventTracker(subjectOf(this.#owner));
    events.tracker.resume(state);
    if (events.tracker.kept() === null) events.tracker = null;
    events.silence = state.silence;
    events.key = keyOf(state);
  }
}

function noEvents(): HeldEvents {
  return { tracker: null, key: null, silence: null, newestOffset: -1, stateText: null };
}

function stateOf({ tracker, silence, key }: HeldEvents): EventState | null {
  const kept = tracker?.kept() ?? null;
  if (kept === null && silence === null) return null;
  return { ...NOTHING_KEPT, ...kept, silence, key: key?.toString('latin1') ?? null };
}

function closeUnusual(
  events: HeldEvents,
  reason: CloseReason,
  { timestampMs, offset }: UnitMoment,
  sink: ScoreSink,
): void {
  const event = events.tracker?.close(reason, timestampMs) ?? null;
  events.tracker = null;
  if (event !== null) publish(events, event, { offset, sink });
}

function publish(
  events: HeldEvents,
  event: AnomalyEvent,
  { offset, sink }: { readonly offset: number; readonly sink: ScoreSink },
): void {
  events.newestOffset = Math.max(events.newestOffset, offset);
  sink.outputs.event(event, { key: events.key, offset: events.newestOffset });
}

/** Moment at which something ended or began. */
interface UnitMoment {
  readonly timestampMs: number;
  readonly offset: number;
}

interface StoppedMoment extends UnitMoment {
  readonly position: number;
  /** Input offset of its last observation. */
  readonly lastOffset: number;
  /** null for a series that is scored alone. */
  readonly member: string | null;
  readonly allSilent: boolean;
}

export function keyOf({ key }: EventState): Buffer | null {
  return key === null ? null : Buffer.from(key, 'latin1');
}

function subjectOf({ loaded, key, group: ownGroup, place, source }: EventOwner): EventSubject {
  const group = ownGroup ?? null;
  const subject = eventSubject(loaded, place, { series: group === null ? key : null, group });
  return source ? { ...subject, seriesLabels: labelsOfId(source) } : subject;
}

/** All series of a detector in a partition. */
export function detectorSubject(loaded: LoadedDetector, place: InputPlace): EventSubject {
  return eventSubject(loaded, place, { series: null, group: null });
}

function eventSubject(
  { config }: LoadedDetector,
  { partition }: InputPlace,
  { series, group }: Pick<EventSubject, 'series' | 'group'>,
): EventSubject {
  const { name: detector, labels, unit, events: rules, settings } = config;
  return {
    detector,
    series,
    group,
    labels,
    unit: unit ?? null,
    rules,
    gap: settings.detectionSize,
    stepMs: meanStepMs(settings.freq),
    idOf(start) {
      const parts = JSON.stringify([series, group, detector, partition, start]);
      return createHash('sha256').update(parts).digest('hex').slice(0, 32);
    },
  };
}
