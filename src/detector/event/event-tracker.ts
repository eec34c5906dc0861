import type { AnomalyEvent, CloseReason, EventKind } from '../../record/anomaly-event.ts';
import type { Verdict } from '../alarm/alarm.ts';
import { leadingResidual, scaleOfChanges, scaleOfResiduals } from '../grade/grade-terms.ts';
import { type RingValues, rarityOf } from './event-extremes.ts';
import { kindOf, RESIDUALS_KEPT, refined } from './event-kind.ts';
import { type EventRules, isInvalid, isWanted } from './event-rules.ts';
import { rarityText } from './event-summary.ts';
import { addShares } from './member-shares.ts';
import { conclude, type EventMoment, type EventPeak, newEvent, type OpenEvent, revise } from './open-event.ts';

/** What the events of a series or group have in common. */
export interface EventSubject {
  readonly detector: string;
  /** null for a group. */
  readonly series: string | null;
  readonly group: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: EventRules;
  /** Rows without an alarm that end an episode: the detection size. */
  readonly gap: number;
  readonly stepMs: number;
  /** Id of the event that begins at this input offset; a text distinguishes events that do not begin with an alarm. */
  readonly idOf: (start: number | string) => string;
}

/** An observed value of a row, of the series itself or of a member of the group. */
export interface SeenValue extends RingValues {
  readonly series: string;
  readonly value: number;
  /** The forecast; NaN where there is none. */
  readonly expected: number;
  /** Bounds of the interval; NaN where there is none. */
  readonly lo: number;
  readonly hi: number;
  /** How unusual it is (alarm.ts). */
  readonly sharp: number;
}

export interface EventRow extends EventMoment {
  /** Input offset. */
  readonly offset: number;
  readonly verdict: Verdict;
  /** Empty where nothing was observed. */
  readonly seen: readonly SeenValue[];
  /** The kept values of a member, or of the series itself; null where it has left. */
  readonly keptOf: (series: string) => RingValues | null;
}

/** An episode is held open while the severity is above this share of its peak, for at most so many gaps. */
const HELD_SHARE = 0.5;
const HELD_GAPS = 4;
/** What it goes over to is another state than before: its return belongs to it. */
const LASTING: readonly EventKind[] = ['level_shift', 'missing_season', 'stuck'];
/** A drift that is one event is held for so many gaps. */
const DRIFT_GAPS = 6;
/** An open event is looked at again after this share of a gap, when the kind is usually known; then once a gap. */
const FIRST_CHECK_SHARE = 0.25;
const RESIDUAL_MAX = 1e6;

/**
 * Makes events of the alarms of one series or group: a recurrence over its rows.
 *
 *   alarm                       opens an event, or goes on with the open one
 *   no alarm for `gap` rows     closes it, unless the severity is still high
 *
 * A row without an alarm changes nothing while no event is open: then it need not be offered (`wants`).
 */
export class EventTracker {
  readonly #subject: EventSubject;
  #open: OpenEvent | null = null;
  /** No event is opened before it; null without a cool-down. */
  #coolUntilMs: number | null = null;
  /** The last observed value, where a rule needs it; null before the first. */
  #previous: number | null = null;

  constructor(subject: EventSubject) {
    this.#subject = subject;
  }

  /** Whether a row may change something. */
  wants(alarm: boolean, value: number): boolean {
    return this.#open !== null || mayMatter(alarm, value, this.#subject.rules);
  }

  /** Takes the next row. Returns what is to be published of it. */
  observe(row: EventRow): AnomalyEvent | null {
    const most = mostUnusual(row, this.#subject.rules);
    const isAlarm = most !== null && this.#counts(row, most);
    if (most !== null && this.#subject.rules.stoppedAt !== null) this.#previous = most.value;
    if (this.#open === null) {
      if (!isAlarm || (this.#coolUntilMs !== null && row.timestampMs < this.#coolUntilMs)) return null;
      this.#coolUntilMs = null;
      this.#open = this.#begin(row, most);
    }
    const event = this.#open;
    keepResidual(event, row);
    if (isAlarm) this.#addAlarm(event, row, most);
    if (event.revision >= 0) return this.#goOn(event, row);
    const lastedMs = event.lastAlarm.timestampMs - event.startedAtMs;
    if (isAlarm && lastedMs >= this.#subject.rules.minDurationMs) {
      this.#classify(event, row);
      event.checked = { position: row.position, alarms: event.alarms };
      return revise(event, 'opened', row.timestampMs);
    }
    if (row.position - event.lastAlarm.position >= this.#subject.gap) this.#open = null;
    return null;
  }

  /** Ends the open event for a reason that lies outside of its rows. */
  close(reason: CloseReason, timestampMs: number): AnomalyEvent | null {
    const event = this.#open;
    this.#open = null;
    return event === null || event.revision < 0 ? null : conclude(event, reason, timestampMs);
  }

  /** What is to be kept; null where it is as a new one. It is plain data, and changes with the next row. */
  kept(): KeptTracker | null {
    if (this.#open === null && this.#coolUntilMs === null && this.#previous === null) return null;
    return { open: this.#open, coolUntilMs: this.#coolUntilMs, previous: this.#previous };
  }

  resume({ open, coolUntilMs, previous }: KeptTracker): void {
    this.#open = open;
    this.#coolUntilMs = coolUntilMs;
    this.#previous = previous;
  }

  #counts({ verdict, timestampMs }: EventRow, { value, expected }: SeenValue): boolean {
    const { rules } = this.#subject;
    if (!verdict.alarm && !isInvalid(value, rules)) return false;
    return isWanted({ timestampMs, value, expected, previous: this.#previous ?? Number.NaN }, rules);
  }

  #begin(row: EventRow, leader: SeenValue): OpenEvent {
    const { idOf } = this.#subject;
    const { position, timestampMs, offset } = row;
    const { rings, value, expected } = leader;
    const scale = scaleOfResiduals(rings);
    return newEvent(this.#subject, {
      eventId: idOf(offset),
      kind: 'spike',
      moment: { position, timestampMs },
      leader: leader.series,
      scale,
      changeScale: scaleOfChanges(rings),
      leading: inUnits(leadingResidual(rings, value - expected), scale),
      peak: this.#peakOf(row, leader, position),
    });
  }

  #addAlarm(event: OpenEvent, row: EventRow, most: SeenValue): void {
    const { verdict, position, timestampMs, seen } = row;
    event.alarms++;
    if (most.value < most.expected) event.alarmsBelow++;
    event.lastAlarm = { position, timestampMs };
    if (event.group !== null) event.shares = addShares(event.shares, seen);
    if (verdict.severity > (event.severity ?? 0)) event.severity = verdict.severity;
    if (event.alarms > 1 && verdict.grade > (event.peak.grade ?? 0)) {
      event.peak = this.#peakOf(row, most, event.start);
    }
  }

  #peakOf({ position, timestampMs, verdict }: EventRow, seen: SeenValue, start: number): EventPeak {
    const { gap, stepMs } = this.#subject;
    const { value, expected, lo, hi } = seen;
    const side = value < expected ? 'lowest' : 'highest';
    const rarity = rarityOf(seen, { value, position, side, start, windowSize: gap });
    return {
      timestampMs,
      grade: finite(verdict.grade),
      value,
      expected: finite(expected),
      lo: finite(lo),
      hi: finite(hi),
      unusual: rarity === null ? null : rarityText(rarity, stepMs),
    };
  }

  #goOn(event: OpenEvent, row: EventRow): AnomalyEvent | null {
    const { gap, rules } = this.#subject;
    if (this.#isOver(event, row)) {
      this.#classify(event, row);
      this.#open = null;
      if (rules.coolDownMs > 0) this.#coolUntilMs = event.lastAlarm.timestampMs + rules.coolDownMs;
      return conclude(event, 'recovered', row.timestampMs);
    }
    const isFirst = event.checked.position === event.start;
    if (row.position - event.checked.position < (isFirst ? Math.ceil(FIRST_CHECK_SHARE * gap) : gap)) return null;
    const { kind, checked } = event;
    event.checked = { position: row.position, alarms: event.alarms };
    this.#classify(event, row);
    return event.kind === kind && event.alarms === checked.alarms ? null : revise(event, 'updated', row.timestampMs);
  }

  #isOver({ lastAlarm, severity, kind }: OpenEvent, { position, verdict }: EventRow): boolean {
    const { gap, rules } = this.#subject;
    const quiet = position - lastAlarm.position;
    if (quiet < gap) return false;
    if (kind === 'drift' && rules.onceInDrift) return quiet >= DRIFT_GAPS * gap;
    const isHeld = LASTING.includes(kind) || verdict.severity > HELD_SHARE * (severity ?? 0);
    return !isHeld || quiet >= HELD_GAPS * gap;
  }

  /** The kind stays where the rows before the event have left the ring. */
  #classify(event: OpenEvent, { position, keptOf }: EventRow): void {
    const kept = keptOf(event.leader);
    if (kept === null) return;
    const { rings } = kept;
    const oldest = Math.max(0, rings.contextStart, position - rings.layout.contextCapacity + 1);
    if (event.start - oldest < this.#subject.gap) return;

    const values = new Float32Array(position + 1 - oldest);
    rings.copyDistances(values, oldest, position + 1);
    event.kind = refined(
      event.kind,
      kindOf({
        values,
        start: event.start - oldest,
        residuals: event.residuals,
        leading: event.leading,
        isBelow: event.peak.expected !== null && (event.peak.value ?? 0) < event.peak.expected,
        span: event.lastAlarm.position - event.start + 1,
        changeScale: event.changeScale,
      }),
    );
  }
}

/** What a new tracker has kept. */
export const NOTHING_KEPT: KeptTracker = { open: null, coolUntilMs: null, previous: null };

/** Whether a row may matter to a tracker that has no open event. */
export function mayMatter(alarm: boolean, value: number, rules: EventRules): boolean {
  return alarm || rules.stoppedAt !== null || isInvalid(value, rules);
}

/** The state of a tracker: plain data without numbers that JSON does not have. */
export interface KeptTracker {
  readonly open: OpenEvent | null;
  readonly coolUntilMs: number | null;
  readonly previous: number | null;
}

/** A value outside of the valid range comes first. */
function mostUnusual({ seen }: EventRow, rules: EventRules): SeenValue | null {
  let most = seen[0] ?? null;
  for (const each of seen) {
    if (isInvalid(each.value, rules)) return each;
    if (each.sharp > most.sharp) most = each;
  }
  return most;
}

function keepResidual({ residuals, leader, scale }: OpenEvent, { seen }: EventRow): void {
  if (residuals.length >= RESIDUALS_KEPT) return;
  const own = seen.find(({ series }) => series === leader);
  residuals.push(own === undefined ? 0 : inUnits(own.value - own.expected, scale));
}

/** A finite number of few digits: it is kept as text. 0 where there is none. */
function inUnits(distance: number, scale: number): number {
  const units = distance / scale;
  if (Number.isNaN(units)) return 0;
  return Math.round(100 * Math.max(-RESIDUAL_MAX, Math.min(units, RESIDUAL_MAX))) / 100;
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}
