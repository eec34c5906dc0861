import type { AnomalyEvent, CloseReason, EventKind } from '../../records/anomaly-event.ts';
import { beginEvent } from './begin-event.ts';
import { concludeRecovered, endsAt, isBelow, recovers } from './event-end.ts';
import { finite, peakOf } from './event-peak.ts';
import { lastUntil, RETURN_ROWS, reach, recoveringSince } from './event-reach.ts';
import { hasReturned, isStillDisplaced } from './event-return.ts';
import { conclude, revise } from './event-revision.ts';
import { keepResidual } from './kept-residuals.ts';
import { departureOf } from './kind/displaced-values.ts';
import type { RingValues } from './kind/event-extremes.ts';
import { isShort, isStillStuck, kindOf, pointKind, refined, staysWithoutSeason } from './kind/event-kind.ts';
import { ringValues } from './kind/ring-values.ts';
import { countDay, isOfDay } from './open/day-event.ts';
import { deviates, type EventRow, type EventSubject, inSeason, isRaised, type SeenValue } from './open/event-row.ts';
import { type EventRules, isInvalid, isOnSide, isWanted } from './open/event-rules.ts';
import { daysInARow, HABIT_STEP_MAX_MS, type Habit, isUsual, withOccurrence } from './open/habits.ts';
import { addShares, outsideSeasons } from './open/member-shares.ts';
import { leaderSizeOf, type OpenEvent, sizeOf } from './open/open-event.ts';
import { isDeviating, isDisplaced, isFarther, isRecovering, mostUnusual, type PeakRow, peakRowOf } from './peak-row.ts';
import { classifyStuck, isBeyondPast } from './stuck-peak.ts';

/** Kinds that no distance from a forecast describes. */
const UNCHANGING: readonly EventKind[] = ['missing_season', 'stuck'];
/** An alarm of so many times the severity of an event whose values were back begins another one. */
const OUTGROWN = 2;
/** An open event is checked again after this share of a gap, when the kind is usually known; then once a gap. */
const FIRST_CHECK_SHARE = 0.25;
/** Alarms at the last check, if the next alarm must cause an update. */
const NOT_REPORTED = -1;

/**
 * Makes events of the alarms of one series or group: a recurrence over its rows.
 *
 *   alarm                       opens an event, or continues the open one
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
  /**
   * Position at which an event was closed while rows deviated; null once one has not. The next one begins no earlier.
   */
  #closedAt: number | null = null;
  /** Events of earlier days, by the time of the day. */
  #habits: readonly Habit[] = [];

  constructor(subject: EventSubject) {
    this.#subject = subject;
  }

  /** True if a row may change something. */
  wants(alarm: boolean, value: number): boolean {
    if (this.#open !== null || this.#closedAt !== null) return true;
    return mayMatter(alarm, value, this.#subject.rules);
  }

  /** Tracks the next row. Returns what is to be published of it, in this order. */
  track(row: EventRow): readonly AnomalyEvent[] {
    const { rules } = this.#subject;
    const revisions: AnomalyEvent[] = [];
    const most = inSeason(mostUnusual(row, rules), row.verdict);
    const peakRow = most === null ? null : this.#alarmOf(row, most);
    const isWatched = peakRow !== null && isOnSide(peakRow.seen, rules);
    if (most !== null && rules.stoppedAt !== null) this.#previous = most.value;
    if (isWatched && this.#open?.isUnwatched && this.#leavesAgain(this.#open, peakRow)) {
      this.#open = null;
      this.#closedAt = peakRow.position;
    }
    if (isWatched && this.#open !== null && this.#isOutgrown(this.#open, row, peakRow)) {
      if (this.#open.revision >= 0) revisions.push(concludeRecovered(this.#open, row.timestampMs));
      this.#open = null;
      this.#closedAt = peakRow.position;
    }
    if (this.#open === null) {
      if (this.#closedAt !== null && peakRow === null && row.seen.length > 0 && !deviates(row, true))
        this.#closedAt = null;
      if (peakRow === null || most === null) return revisions;
      if (isWatched && this.#coolUntilMs !== null && row.timestampMs < this.#coolUntilMs) return revisions;
      if (isWatched && this.#isHabitual(row, peakRow)) return revisions;
      if (isWatched) this.#coolUntilMs = null;
      const from = this.#closedAt ?? 0;
      this.#open = beginEvent(this.#subject, row, { most, peakRow, isWatched, from, habits: this.#habits });
      this.#closedAt = null;
    }
    const event = this.#open;
    const alarm = isWatched || event.isUnwatched ? peakRow : null;
    keepResidual(event, row.seen);
    const isPeak = alarm !== null && this.#addAlarm(event, row, alarm);
    if (row.seen.length > 0) this.#reach(event, row, { isAlarm: alarm !== null, isPeak });
    const revision = this.#revisionAt(event, row, alarm !== null);
    if (revision !== null && !event.isUnwatched) revisions.push(revision);
    return revisions;
  }

  /** True if values were back, and an alarm far beyond all that the event had begins another one: no cool-down does. */
  #isOutgrown(event: OpenEvent, { verdict, position, keptOf }: EventRow, peakRow: PeakRow): boolean {
    if (event.isUnwatched || this.#subject.rules.coolDownMs > 0) return false;
    const kept = keptOf(event.leader);
    if (event.kind === 'stuck' && kept !== null && peakRow.seen.series === event.leader) {
      const isRepeated = peakRow.seen.value === event.peak.value;
      if (!isRepeated && isBeyondPast(event, peakRow.seen.value, { kept, position })) return true;
    }
    if (recoveringSince(event) === null || event.ordinaryRows < RETURN_ROWS) return false;
    return verdict.severity > OUTGROWN * (event.severity ?? 0) && !this.#isRecovering(event, peakRow);
  }

  /** True if an alarm is of what comes at this time of the day, as a short job does: it counts, and opens no event. */
  #isHabitual({ timestampMs, verdict }: EventRow, { seen }: PeakRow): boolean {
    const { group, stepMs } = this.#subject;
    if (stepMs > HABIT_STEP_MAX_MS || verdict.season?.day !== undefined) return false;
    const { value, series } = seen;
    const size = finite(Math.abs(value - seen.expected)) ?? 0;
    const row = { atMs: timestampMs, value, size, ...(group !== null && { series }) };
    const isOne = isUsual(this.#habits, row);
    if (isOne) this.#habits = withOccurrence(this.#habits, row);
    return isOne;
  }

  #revisionAt(event: OpenEvent, row: EventRow, isAlarm: boolean): AnomalyEvent | null {
    const { rules, gap, stepMs } = this.#subject;
    if (event.revision >= 0) return this.#goOn(event, row);
    const lastedMs = event.lastAlarm.timestampMs - event.firstAlarm.timestampMs;
    if (isAlarm && lastedMs >= rules.minDurationMs) {
      this.#classify(event, row);
      event.checked = { position: row.position, alarms: event.alarms };
      if (!event.isUnwatched && stepMs <= HABIT_STEP_MAX_MS) {
        const atMs = event.firstAlarm.timestampMs;
        const { value, series } = event.peak;
        const row = { atMs, value, size: sizeOf(event.peak), ...(series !== undefined && { series }) };
        event.days = daysInARow(this.#habits, atMs);
        this.#habits = withOccurrence(this.#habits, row);
      }
      return revise(event, 'opened', row.timestampMs);
    }
    if (row.position - event.lastAlarm.position >= gap) this.#open = null;
    return null;
  }

  /** Ends the open event for a reason that is outside of its rows. */
  close(reason: CloseReason, timestampMs: number): AnomalyEvent | null {
    const event = this.#open;
    this.#open = null;
    return event === null || event.revision < 0 || event.isUnwatched ? null : conclude(event, reason, timestampMs);
  }

  /** The state to be kept; null if it is that of a new tracker. It is plain data, and changes with the next row. */
  kept(): KeptTracker | null {
    const [open, coolUntilMs, previous] = [this.#open, this.#coolUntilMs, this.#previous];
    const [closedAt, habits] = [this.#closedAt, this.#habits];
    if ([open, coolUntilMs, previous, closedAt].every((each) => each === null) && habits.length === 0) return null;
    return { open, coolUntilMs, previous, closedAt, ...(habits.length > 0 && { habits }) };
  }

  resume({ open, coolUntilMs, previous, closedAt = null, habit = null, habits }: KeptTracker): void {
    this.#closedAt = closedAt;
    this.#habits = habits ?? (habit === null ? [] : [habit]);
    this.#open = open;
    this.#coolUntilMs = coolUntilMs;
    this.#previous = previous;
  }

  /** The row that an alarm is about, on whichever side; null if the row is no alarm that counts. */
  #alarmOf(row: EventRow, most: SeenValue): PeakRow | null {
    const { rules, stepMs } = this.#subject;
    const { verdict, position, timestampMs } = row;
    const isOut = isInvalid(most.value, rules);
    if (!verdict.alarm && !isOut) return null;
    const from = this.#open?.start ?? this.#closedAt ?? 0;
    const peakRow =
      isOut || isRaised(row) ? { position, timestampMs, seen: most } : peakRowOf(row, most, { from, stepMs });
    const { value, expected } = peakRow.seen;
    return isWanted({ timestampMs, value, expected, previous: this.#previous ?? Number.NaN }, rules) ? peakRow : null;
  }

  /** Returns whether the event is described by this alarm. */
  #addAlarm(event: OpenEvent, row: EventRow, peakRow: PeakRow): boolean {
    const { verdict, position, timestampMs, seen } = row;
    event.alarms++;
    if (isRaised(row)) event.seasonAlarms = (event.seasonAlarms ?? 0) + 1;
    countDay(event, row, { day: verdict.season?.day, stepMs: this.#subject.stepMs });
    event.lastAlarm = { position, timestampMs };
    if (event.group !== null) event.shares = addShares(event.shares, isRaised(row) ? outsideSeasons(seen) : seen);
    if (verdict.severity > (event.severity ?? 0)) event.severity = verdict.severity;
    const { grade } = event.peak;
    let isPeak = event.alarms === 1 && peakRow.position === position;
    if (!this.#isRecovering(event, peakRow)) {
      // The value of a stuck event is the one that it is stuck at: what comes next is often more unusual.
      isPeak =
        event.alarms > 1 &&
        event.kind !== 'stuck' &&
        peakRow.timestampMs !== event.peak.timestampMs &&
        isFarther(peakRow.seen, event.peak);
      if (isPeak) event.peak = peakOf(row, peakRow, { ...this.#subject, start: event.start, habits: this.#habits });
      if (isDeviating(peakRow.seen, event.peak))
        event[peakRow.seen.value < peakRow.seen.expected ? 'alarmsBelow' : 'alarmsAbove']++;
    }
    event.peak = { ...event.peak, grade: verdict.grade > (grade ?? 0) ? verdict.grade : grade };
    return isPeak;
  }

  /** True if a watched alarm ends an unwatched event: unless it is the way back, or on its forecast again. */
  #leavesAgain(unwatched: OpenEvent, peakRow: PeakRow): boolean {
    return isDeviating(peakRow.seen, unwatched.peak) && !this.#isRecovering(unwatched, peakRow);
  }

  #isRecovering(event: OpenEvent, { seen, position }: PeakRow): boolean {
    const { gap, stepMs } = this.#subject;
    return isRecovering(event, { seen, position, gap, stepMs });
  }

  #reach(event: OpenEvent, row: EventRow, { isAlarm, isPeak }: { isAlarm: boolean; isPeak: boolean }): void {
    const { gap, stepMs } = this.#subject;
    const { position, verdict } = row;
    const isBySeason = event.seasonAlarms !== undefined || isRaised(row);
    // A stuck value lasts as long as it is repeated.
    const isStuck = event.kind === 'stuck' && repeatsValue(row.keptOf(event.leader), position);
    const seen = row.seen.find(({ series }) => series === (event.peak.series ?? event.leader));
    reach(event, row, {
      isAlarm: isAlarm && (isStuck || event.kind !== 'stuck'),
      deviates: event.kind === 'stuck' ? isStuck : deviates(row, isBySeason),
      isDisplaced:
        seen === undefined
          ? null
          : isPeak || isDisplaced(event, { seen, position, gap, stepMs }, isBySeason && verdict.outsideProfile > 0),
      stepMs,
    });
  }

  #goOn(event: OpenEvent, row: EventRow): AnomalyEvent | null {
    const { gap, rules, stepMs } = this.#subject;
    if (endsAt(event, row, this.#subject)) {
      const kept = row.keptOf(event.leader);
      const staysAway = kept !== null && isStillDisplaced(event, kept, { position: row.position, gap, stepMs });
      this.#classify(event, row, staysAway);
      if (staysAway && !endsAt(event, row, this.#subject)) {
        // Its kind is reported at the next look: once a gap.
        event.checked = { ...event.checked, alarms: NOT_REPORTED };
        return null;
      }
      this.#open = null;
      if (rules.coolDownMs > 0 && !event.isUnwatched)
        this.#coolUntilMs = event.lastAlarm.timestampMs + rules.coolDownMs;
      if (event.ordinaryRows === 0) this.#closedAt = row.position;
      const isBrief = isShort(event.away.until.position - event.start) && !UNCHANGING.includes(event.kind);
      const isBack = isBrief || kept === null || hasReturned(event, kept, { position: row.position, gap, stepMs });
      return isBack ? concludeRecovered(event, row.timestampMs) : conclude(event, 'new_level', row.timestampMs);
    }
    if (recovers(event, row.position, gap)) {
      event.recovering = row.position;
      event.checked = { ...event.checked, alarms: event.alarms };
      return revise(event, 'updated', row.timestampMs);
    }
    const isFirst = event.checked.position === event.firstAlarm.position;
    if (row.position - event.checked.position < (isFirst ? Math.ceil(FIRST_CHECK_SHARE * gap) : gap)) return null;
    const { kind, checked } = event;
    event.checked = { position: row.position, alarms: event.alarms };
    this.#classify(event, row);
    return event.kind === kind && event.alarms === checked.alarms ? null : revise(event, 'updated', row.timestampMs);
  }

  /** The kind stays, except its side, if the rows before the event have left the ring. */
  #classify(event: OpenEvent, { position, timestampMs, seen, keptOf }: EventRow, staysAway = false): void {
    event.kind = refined(event.kind, pointKind(isBelow(event)), null);
    const kept = keptOf(event.leader);
    // A low day is a level, regardless of its rows.
    if (kept === null || isOfDay(event)) return;
    const { values, oldest } = ringValues(kept.rings, position);
    const start = event.firstAlarm.position - (event.lead ?? 0) - oldest;
    const { gap, stepMs } = this.#subject;
    if (start < gap) return;
    const until = event.until.position;
    const leaderValue = (event.peak.series ?? event.leader) === event.leader ? event.peak.value : null;
    const departure = departureOf(kept, { start: event.start, until, position, stepMs, peak: leaderSizeOf(event) });
    event.kind = refined(
      event.kind,
      kindOf({
        values,
        start,
        begun: event.start - oldest,
        residuals: event.residuals,
        leading: event.leading,
        isBelow: isBelow(event),
        span: event.lastAlarm.position - event.firstAlarm.position + 1,
        changeScale: event.changeScale,
        departure,
        isBySeason: event.seasonAlarms !== undefined,
        origin: kept.origin,
        staysAway,
        isExtreme: isBeyondPast(event, leaderValue, { kept, position }),
      }),
      departure,
    );
    if (event.kind === 'stuck') {
      const { earlier } = seen.find(({ series }) => series === event.leader) ?? {};
      classifyStuck(event, { position, timestampMs, kept, alarmed: start + oldest, stepMs, earlier });
    }
    const goesOn =
      event.kind === 'stuck'
        ? isStillStuck(values)
        : event.kind === 'missing_season' && staysWithoutSeason(values, event.start - oldest, kept.origin);
    if (goesOn) lastUntil(event, { position, timestampMs }, this.#subject.stepMs);
  }
}

function repeatsValue(kept: RingValues | null, position: number): boolean {
  return kept !== null && kept.rings.distanceAt(position) === kept.rings.distanceAt(position - 1);
}

/** The state of a new tracker. */
export const NOTHING_KEPT: KeptTracker = { open: null, coolUntilMs: null, previous: null };

/** True if a row may matter to a tracker that has no open event. */
export function mayMatter(alarm: boolean, value: number, rules: EventRules): boolean {
  return alarm || rules.stoppedAt !== null || isInvalid(value, rules);
}

/** The state of a tracker: plain data without numbers that JSON does not have. */
export interface KeptTracker {
  readonly open: OpenEvent | null;
  readonly coolUntilMs: number | null;
  readonly previous: number | null;
  /** Omitted by earlier versions. */
  readonly closedAt?: number | null;
  readonly habits?: readonly Habit[];
  /** Kept by earlier versions: one habit. */
  readonly habit?: Habit | null;
}
