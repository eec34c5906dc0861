import type { AnomalyEvent, CloseReason, EventKind } from '../../record/anomaly-event.ts';
import { leadingResidual, scaleOfChanges, scaleOfResiduals } from '../grade/grade-terms.ts';
import { type DailyHabit, habitWith, isOver } from './daily-habit.ts';
import { departureOf } from './displaced-values.ts';
import { type RingValues, rarityOf } from './event-extremes.ts';
import { isStillStuck, kindOf, recoveredKind, refined, staysWithoutSeason } from './event-kind.ts';
import { hasReturned, levelBefore } from './event-return.ts';
import { type EventRow, type EventSubject, inSeason, type SeenValue, seasonOfSeen } from './event-row.ts';
import { type EventRules, isInvalid, isWanted } from './event-rules.ts';
import { rarityText, seasonText } from './event-summary.ts';
import { inUnits, keepResidual } from './kept-residuals.ts';
import { addShares, besideSeasons } from './member-shares.ts';
import { conclude, type EventPeak, lastUntil, newEvent, type OpenEvent, reach, revise } from './open-event.ts';
import { ringValues, stuckRows } from './ring-values.ts';

/**
 * An episode is held open while the severity is above this share of its peak, and above what 95 of 100 ordinary rows
 * have, for at most so many gaps.
 */
const HELD_SHARE = 0.5;
const ORDINARY_SEVERITY = 16;
const HELD_GAPS = 4;
/** What it goes over to is another state than before: its return belongs to it. */
const LASTING: readonly EventKind[] = ['level_shift', 'missing_season', 'stuck'];
/** A drift that is one event is held for so many gaps. */
const DRIFT_GAPS = 6;
/** A row of such a grade is part of the event that goes on. */
const DEVIATING_GRADE = 1 / 3;
/** An open event is looked at again after this share of a gap, when the kind is usually known; then once a gap. */
const FIRST_CHECK_SHARE = 0.25;

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
  /** Where an event was closed while rows deviated; null once one has not. The next one begins no earlier. */
  #closedAt: number | null = null;
  /** Events of the days before, at about one time; null where the last is longer ago than a day. */
  #habit: DailyHabit | null = null;

  constructor(subject: EventSubject) {
    this.#subject = subject;
  }

  /** Whether a row may change something. */
  wants(alarm: boolean, value: number): boolean {
    if (this.#open !== null || this.#closedAt !== null || this.#habit !== null) return true;
    return mayMatter(alarm, value, this.#subject.rules);
  }

  /** Takes the next row. Returns what is to be published of it. */
  observe(row: EventRow): AnomalyEvent | null {
    const most = inSeason(mostUnusual(row, this.#subject.rules), row.verdict);
    const isAlarm = most !== null && this.#counts(row, most);
    if (most !== null && this.#subject.rules.stoppedAt !== null) this.#previous = most.value;
    if (this.#open === null) {
      if (this.#habit !== null && isOver(this.#habit, row.timestampMs)) this.#habit = null;
      if (this.#closedAt !== null && !isAlarm && row.seen.length > 0 && !deviates(row, true)) this.#closedAt = null;
      if (!isAlarm || (this.#coolUntilMs !== null && row.timestampMs < this.#coolUntilMs)) return null;
      this.#coolUntilMs = null;
      this.#open = this.#begin(row, most);
    }
    const event = this.#open;
    keepResidual(event, row.seen);
    const isMissing = row.seen.length === 0;
    if (!isMissing) {
      const isStuck = event.kind === 'stuck' && repeatsValue(row.keptOf(event.leader), row.position);
      const isDeviating = isStuck || deviates(row, event.seasonAlarms !== undefined || isRaised(row));
      reach(event, row, { isAlarm, deviates: isDeviating, stepMs: this.#subject.stepMs });
    }
    if (isAlarm) this.#addAlarm(event, row, most);
    if (event.revision >= 0) return this.#goOn(event, row);
    const lastedMs = event.lastAlarm.timestampMs - event.firstAlarm.timestampMs;
    if (isAlarm && lastedMs >= this.#subject.rules.minDurationMs) {
      this.#classify(event, row);
      event.checked = { position: row.position, alarms: event.alarms };
      const habit = habitWith(this.#habit, event.firstAlarm.timestampMs, this.#subject.stepMs);
      this.#habit = habit ?? this.#habit;
      if (habit !== null) event.days = habit.days;
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
    const [open, coolUntilMs, previous] = [this.#open, this.#coolUntilMs, this.#previous];
    const [closedAt, habit] = [this.#closedAt, this.#habit];
    if ([open, coolUntilMs, previous, closedAt, habit].every((each) => each === null)) return null;
    return { open, coolUntilMs, previous, closedAt, habit };
  }

  resume({ open, coolUntilMs, previous, closedAt = null, habit = null }: KeptTracker): void {
    this.#closedAt = closedAt;
    this.#habit = habit;
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
    const { idOf, gap, stepMs } = this.#subject;
    const { position, timestampMs, offset, verdict } = row;
    const { rings, value, expected } = leader;
    const scale = scaleOfResiduals(rings);
    const run = Math.max(1, isRaised(row) ? verdict.beside : verdict.elevated);
    const deviating = Math.min(run - 1, gap - 1);
    const lead = Math.min(Math.max(deviating, stuckRows(rings, position)), position - (this.#closedAt ?? 0));
    const start = position - lead;
    this.#closedAt = null;
    return newEvent(this.#subject, {
      eventId: idOf(offset),
      kind: 'spike',
      begun: { position: start, timestampMs: timestampMs - Math.round(lead * stepMs) },
      firstAlarm: { position, timestampMs },
      leader: leader.series,
      scale,
      changeScale: scaleOfChanges(rings),
      leading: inUnits(leadingResidual(rings, value - expected), scale),
      before: levelBefore(leader, start, gap),
      peak: this.#peakOf(row, leader, start),
    });
  }

  #addAlarm(event: OpenEvent, row: EventRow, most: SeenValue): void {
    const { verdict, position, timestampMs, seen } = row;
    event.alarms++;
    if (isRaised(row)) event.seasonAlarms = (event.seasonAlarms ?? 0) + 1;
    if (most.value < most.expected) event.alarmsBelow++;
    event.lastAlarm = { position, timestampMs };
    if (event.group !== null) event.shares = addShares(event.shares, isRaised(row) ? besideSeasons(seen) : seen);
    if (verdict.severity > (event.severity ?? 0)) event.severity = verdict.severity;
    // The value of a stuck event is the one that it is stuck at: what comes next is often more unusual.
    if (event.alarms > 1 && event.kind !== 'stuck' && verdict.grade > (event.peak.grade ?? 0)) {
      event.peak = this.#peakOf(row, most, event.start);
    }
  }

  #peakOf({ position, timestampMs, verdict }: EventRow, seen: SeenValue, start: number): EventPeak {
    const { gap, stepMs } = this.#subject;
    const { value, expected, lo, hi } = seen;
    const side = value < expected ? 'lowest' : 'highest';
    const rarity = rarityOf(seen, { value, position, side, start, windowSize: gap });
    const rare = rarity === null ? null : rarityText(rarity, stepMs);
    const season = seasonOfSeen(seen, verdict);
    // Forecasts that follow an incident lie beyond its values. Then it is told where they lie beside what was expected.
    const isAlike = season?.raised || value < expected === value < (season?.expected ?? Number.NaN);
    const usual = season !== null && isAlike ? seasonText(value, season, this.#subject.unit ?? null) : null;
    return {
      timestampMs,
      grade: finite(verdict.grade),
      value,
      expected: finite(expected),
      lo: finite(lo),
      hi: finite(hi),
      unusual: usual ?? rare,
      ...(this.#subject.group !== null && { series: seen.series }),
    };
  }

  #goOn(event: OpenEvent, row: EventRow): AnomalyEvent | null {
    const { gap, rules, stepMs } = this.#subject;
    if (this.#isOver(event, row)) {
      this.#classify(event, row);
      this.#open = null;
      if (rules.coolDownMs > 0) this.#coolUntilMs = event.lastAlarm.timestampMs + rules.coolDownMs;
      if (event.ordinaryRows === 0) this.#closedAt = row.position;
      const kept = row.keptOf(event.leader);
      const isBack = kept === null || hasReturned(event, kept, { position: row.position, gap, stepMs });
      if (isBack) event.kind = recoveredKind(event.kind, event.until.position - event.start, isBelow(event));
      return conclude(event, isBack ? 'recovered' : 'new_level', row.timestampMs);
    }
    const isFirst = event.checked.position === event.firstAlarm.position;
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
    const held = Math.max(HELD_SHARE * (severity ?? 0), ORDINARY_SEVERITY);
    const isHeld = LASTING.includes(kind) || verdict.severity > held;
    return !isHeld || quiet >= HELD_GAPS * gap;
  }

  /** The kind stays where the rows before the event have left the ring. */
  #classify(event: OpenEvent, { position, timestampMs, keptOf }: EventRow): void {
    const kept = keptOf(event.leader);
    if (kept === null) return;
    const { values, oldest } = ringValues(kept.rings, position);
    const start = event.firstAlarm.position - oldest;
    const { gap, stepMs } = this.#subject;
    if (start < gap) return;
    const until = event.until.position;
    const departure = departureOf(kept, { start: event.start, until, position, stepMs });
    event.kind = refined(
      event.kind,
      kindOf({
        values,
        start,
        residuals: event.residuals,
        leading: event.leading,
        isBelow: isBelow(event),
        span: event.lastAlarm.position - event.firstAlarm.position + 1,
        changeScale: event.changeScale,
        departure,
        isBySeason: event.seasonAlarms !== undefined,
      }),
      departure,
    );
    const goesOn =
      event.kind === 'stuck'
        ? isStillStuck(values)
        : event.kind === 'missing_season' && staysWithoutSeason(values, event.start - oldest);
    if (goesOn) lastUntil(event, { position, timestampMs }, this.#subject.stepMs);
  }
}

function isBelow({ peak: { value, expected } }: OpenEvent): boolean {
  return expected !== null && (value ?? 0) < expected;
}

function repeatsValue(kept: RingValues | null, position: number): boolean {
  return kept !== null && kept.rings.distanceAt(position) === kept.rings.distanceAt(position - 1);
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
  /** Left out by earlier versions. */
  readonly closedAt?: number | null;
  readonly habit?: DailyHabit | null;
}

/** Whether the long memory raised the alarm of a row. */
function isRaised({ verdict: { season } }: EventRow): boolean {
  return season?.raised === true;
}

/** Whether a row is part of an incident, an alarm or not. */
function deviates({ verdict: { grade, beside } }: EventRow, isBySeason: boolean): boolean {
  return grade >= DEVIATING_GRADE || (isBySeason && beside > 0);
}

/** A value outside of the valid range comes first, then the member whose long memory raised the alarm. */
function mostUnusual({ seen, verdict: { season } }: EventRow, rules: EventRules): SeenValue | null {
  const raised = season?.raised === true ? season : null;
  let most = seen[0] ?? null;
  for (const each of seen) {
    if (isInvalid(each.value, rules)) return each;
    if (raised === null ? each.sharp > most.sharp : each.season === raised) most = each;
  }
  return most;
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}
