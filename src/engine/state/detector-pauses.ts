import type { OpenPauses } from '../../checkpoint/partition-records.ts';
import { conclude, revise } from '../../detection/event/event-revision.ts';
import type { OpenEvent } from '../../detection/event/open/open-event.ts';
import { concludeSilence, silenceEvent } from '../../detection/event/silence-event.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { detectorOf, isOutdated, type OutdatedState } from '../arrival/outdated-state.ts';
import { silenceLimitOf } from '../arrival/silence-watch.ts';
import type { TimestampGuard } from '../arrival/timestamp-guard.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { silenceMs } from '../unit/silence.ts';
import { detectorSubject } from '../unit/unit-events.ts';
import type { Outlet, PartitionUnits } from './partition-units.ts';

/** A detector with one series, or group, that stops has a silence of that one. */
const UNITS_MIN = 2;
/** At least so many steps without any record of a detector, while event time continues, are a pause. */
const QUIET_STEPS_MIN = 1.5;

type Held = Scorable | OutdatedState;

/**
 * Pauses of whole detectors: none of their series in the partition sends anything. A pause is one event, from the first
 * silence that is found in it until one of the series sends again. Meanwhile no series is reported silent. A series
 * that does not return has `silence_after` steps from then on before it is reported silent.
 */
export class DetectorPauses {
  readonly #place: InputPlace;
  readonly #units: PartitionUnits;
  readonly #guard: TimestampGuard;
  /** By detector; null for a pause that began in times in which no alarm counts. */
  readonly #open = new Map<string, OpenEvent | null>();
  /** By detector, the unit that was found last. It is checked first; any unit would do. */
  readonly #found = new Map<string, Held>();
  /** Detectors that have no pause although all have stopped, until one of their series sends again. */
  readonly #alone = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(place: InputPlace, units: PartitionUnits, guard: TimestampGuard) {
    this.#place = place;
    this.#units = units;
    this.#guard = guard;
  }

  /** @param isNamed whether there is a detector of this name */
  restore(pauses: OpenPauses, isNamed: (detector: string) => boolean): void {
    for (const [detector, event] of Object.entries(pauses)) {
      this.#open.set(detector, event);
      if (!isNamed(detector)) this.#removed.add(detector);
    }
    this.#listen();
  }

  /** True if the detector of a unit, or of an outdated state, is in a pause. */
  covers(one: Held): boolean {
    const loaded = this.#open.size === 0 ? null : detectorOf(one);
    return loaded !== null && this.#open.has(loaded.config.name);
  }

  /** True if none of the units of a detector has sent anything of late, by the event time of the partition. */
  mayBegin({ config: { name, settings } }: LoadedDetector): boolean {
    if (this.#alone.has(name)) return false;
    const stepMs = meanStepMs(settings.freq);
    const quietMs = Math.max((silenceMs(settings) ?? 0) - stepMs, QUIET_STEPS_MIN * stepMs);
    const sinceMs = this.#guard.watermark.ms - quietMs;
    return !this.#finds(name, ({ arrivedMs, lastSeenMs }) => Math.max(arrivedMs, lastSeenMs) >= sinceMs);
  }

  /**
   * Begins the pause of a detector whose units have all stopped, once what came before is scored. Returns false if
   * that is news of less than two.
   */
  begin(loaded: LoadedDetector, { offset, sink }: Outlet): boolean {
    const { name, settings } = loaded.config;
    const stopped = Array.from(this.#units.ofDetector(name))
      .map((one) => ({ one, series: this.#seriesAwaited(one) }))
      .filter(({ series }) => series > 0);
    if (stopped.length < UNITS_MIN) {
      this.#alone.add(name);
      this.#listen();
      return false;
    }
    const newestMs = Math.max(...stopped.map(({ one }) => one.arrivedMs));
    const event = silenceEvent(detectorSubject(loaded, this.#place), {
      position: 0,
      timestampMs: Math.round(newestMs + (settings.silenceAfter ?? 0) * meanStepMs(settings.freq)),
      missing: settings.silenceAfter ?? 0,
      offset: Math.max(...stopped.map(({ one }) => one.newestOffset)),
      seriesCount: stopped.reduce((count, { series }) => count + series, 0),
    });
    this.#open.set(name, event);
    if (event !== null) {
      sink.outputs.event(revise(event, 'opened', event.firstAlarm.timestampMs), { key: this.#keyOf(name), offset });
    }
    this.#changed(sink);
    return true;
  }

  /** True if a record came for a detector that is in a pause, or cannot begin one. */
  get hasReturned(): boolean {
    return (this.#guard.advanced?.length ?? 0) > 0;
  }

  /** Ends the pauses of detectors that a record came for. */
  endReturned({ offset, sink }: Outlet): void {
    const advanced = this.#guard.advanced ?? [];
    this.#guard.advanced = [];
    const openBefore = this.#open.size;
    for (const { loaded, timestampMs } of advanced) {
      const { name, settings } = loaded.config;
      this.#alone.delete(name);
      const event = this.#open.get(name);
      if (event === undefined) continue;
      this.#open.delete(name);
      if (event !== null) {
        // Records that continue where they stopped are older than the pause.
        const returnedMs = Math.max(timestampMs, event.firstAlarm.timestampMs);
        const position = Math.round((returnedMs - event.startedAtMs) / meanStepMs(settings.freq));
        const closed = concludeSilence(event, { position, timestampMs: returnedMs });
        sink.outputs.event(closed, { key: this.#keyOf(name), offset });
      }
      // Event time may have gone on without the detector.
      const sinceMs = Math.max(timestampMs, this.#guard.watermark.ms);
      for (const one of this.#units.ofDetector(name)) this.#awaitFrom(sinceMs, one, sink);
    }
    if (this.#open.size < openBefore) this.#changed(sink);
    else this.#listen();
  }

  /** Ends the pauses of detectors that have no series here any more. */
  endAbandoned({ offset, sink }: Outlet): void {
    for (const [name, event] of this.#open) {
      if (!this.#removed.has(name) && this.#finds(name, () => true)) continue;
      this.#open.delete(name);
      const reason = this.#removed.has(name) ? 'detector_removed' : 'evicted';
      if (event !== null) {
        sink.outputs.event(conclude(event, reason, event.lastAlarm.timestampMs), { key: this.#keyOf(name), offset });
      }
      this.#changed(sink);
    }
  }

  get any(): boolean {
    return this.#open.size > 0;
  }

  #awaitFrom(timestampMs: number, one: Held, sink: ScoreSink): void {
    const isSeries = !isOutdated(one) && one.group === null;
    // Other members of a group that has returned may not have returned.
    if (isSeries && (one.silent || one.arrivedMs >= timestampMs)) return;
    one.lastSeenMs = Math.max(one.lastSeenMs, timestampMs);
    if (isOutdated(one) && one.previous !== null) one.previous.lastSeenMs = one.lastSeenMs;
    sink.state.touched(isOutdated(one) ? one : this.#units.backfills.entryOf(one));
    this.#guard.silent.watch(one);
  }

  /** Number of series of a unit, or of an outdated state, have stopped of which that is news. */
  #seriesAwaited(one: Held): number {
    const { silenceAfter = null } = detectorOf(one)?.config.settings ?? {};
    if (silenceLimitOf(one) === null) return 0;
    if (isOutdated(one)) return one.previous?.seriesAwaited(silenceAfter) ?? 0;
    const queued = one.waiting.forBackfill;
    if (queued === null) return one.seriesAwaited(silenceAfter);
    // It has seen nothing before its backfill.
    const past = this.#units.backfills.continuedBy(one)?.previous ?? null;
    return queued.at(-1)?.silence === undefined ? (past?.seriesAwaited(silenceAfter) ?? 0) : 0;
  }

  /** True if a detector has a unit, or an outdated state, of which that is true. */
  #finds(detector: string, isSo: (one: Held) => boolean): boolean {
    const last = this.#found.get(detector);
    if (last !== undefined && this.#units.isRegistered(last) && isSo(last)) return true;
    for (const one of this.#units.ofDetector(detector)) {
      if (!isSo(one)) continue;
      this.#found.set(detector, one);
      return true;
    }
    return false;
  }

  #keyOf(detector: string): Buffer {
    return Buffer.from(`${detector}/${this.#place.partition}`);
  }

  #changed(sink: ScoreSink): void {
    sink.state.pausesChanged(Object.fromEntries(this.#open));
    this.#listen();
  }

  /** Times of records are collected only while there is something to wait for. */
  #listen(): void {
    this.#guard.advanced = this.#open.size + this.#alone.size === 0 ? null : (this.#guard.advanced ?? []);
  }
}
