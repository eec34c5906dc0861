import type { ChangelogSeries, DeltaLogEntry, DeltaLogWrite } from '../../checkpoint/delta-log.ts';
import { closedWindowRecord } from '../../checkpoint/series/series-state.ts';
import type { OutdatedState } from '../arrival/outdated-state.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ReplaySink, ScoreSink } from '../unit/score-sink.ts';
import { RequestedForecasts } from './requested-forecasts.ts';
import type { WorkerPace } from './worker-pace.ts';

/**
 * Forecasts of a round, unless one group needs more. What is due for new observations waits behind one round at most.
 */
const ROUND_FORECASTS_MAX = 64;
/** Records of a series, and of a group, that wait for its backfill. With more of them it is calibrated at once. */
const SERIES_BYTES_MAX = 16 * 1024;
const GROUP_BYTES_MAX = 256 * 1024;
/** Bytes of a waiting record next to its key and value. */
const RECORD_BYTES = 64;

/** A unit that begins with what another one kept, and its records that wait for that. */
interface Backfill {
  readonly unit: Scorable;
  /** State that it continues, and that is in the changelog until then; null if only records wait. */
  outdated: OutdatedState | null;
  /** Closed windows, which replace those of `outdated` in its slot. */
  readonly windows: Map<string, DeltaLogWrite>;
  backfilled: number[];
  bytes: number;
}

/** A unit replaces what it continues, in the state and in the changelog. */
type Replace = (outdated: OutdatedState, unit: Scorable, sink: ScoreSink) => void;

interface BackfillOutlets {
  readonly sink: ScoreSink;
  readonly signal: AbortSignal;
  /** Called when forecasts have arrived. */
  readonly wake: () => void;
}

/**
 * Backfills in the background, one unit after the other, in rounds of forecasts that keep the pace. Meanwhile the
 * records of a unit wait: they are in the state of the one that it continues. In its slot the new state replaces the
 * old one in a single transaction, and its records are scored in their order. So its scores do not depend on when that
 * is.
 */
export class Backfills {
  readonly #pace: WorkerPace;
  readonly #replace: Replace;
  readonly #all = new Map<Scorable, Backfill>();
  /** Those with a record, in the order of these. */
  readonly #slots = new Set<Backfill>();
  #active: Backfill[] = [];
  #round: Promise<void> | null = null;
  readonly #forecasts = new RequestedForecasts();
  /** A round with a unit that was drained. */
  #detached: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #continuing = 0;

  constructor(pace: WorkerPace, replace: Replace) {
    this.#pace = pace;
    this.#replace = replace;
  }

  /** Units that wait, also for a first record. */
  get size(): number {
    return this.#all.size;
  }

  /** Units with records that wait. */
  get waiting(): number {
    return this.#active.length + this.#slots.size;
  }

  /** Units that wait and continue another one, which is in the state, too. */
  get continuing(): number {
    return this.#continuing;
  }

  /** From now on the records of the unit wait for its slot, which comes after its first one. */
  add(unit: Scorable, outdated: OutdatedState | null, records: readonly ReceivedObservation[]): void {
    unit.waiting.awaitBackfill();
    this.#all.set(unit, { unit, outdated, windows: new Map(), backfilled: [], bytes: 0 });
    if (outdated !== null) {
      outdated.migrated = unit;
      this.#continuing++;
    }
    for (const record of records) this.queue(unit, record);
  }

  /** Returns false when so much waits that the unit must be calibrated at once. */
  queue(unit: Scorable, observation: ReceivedObservation): boolean {
    const backfill = this.#all.get(unit)!;
    const { key, value } = observation.record;
    unit.waiting.queue(observation);
    backfill.bytes += (key?.length ?? 0) + (value?.length ?? 0) + RECORD_BYTES;
    if (!this.#active.includes(backfill)) this.#slots.add(backfill);
    return backfill.bytes <= (unit.group === null ? SERIES_BYTES_MAX : GROUP_BYTES_MAX);
  }

  /** Entry whose open state represents a unit: until its slot that of the state which it continues. */
  entryOf(unit: Scorable): DeltaLogEntry {
    return this.continuedBy(unit) ?? unit;
  }

  /** State that a unit continues which waits for its slot; null if there is none. */
  continuedBy(unit: Scorable): OutdatedState | null {
    return this.#all.get(unit)?.outdated ?? null;
  }

  /** A unit is calibrated now: the caller offers the records that wait, and supplies forecasts. */
  drain(unit: Scorable, sink: ScoreSink): void {
    const backfill = this.#all.get(unit)!;
    this.#complete(backfill, sink);
    if (this.#active.includes(backfill)) this.#detached = this.#round;
    this.#active = this.#active.filter((one) => one !== backfill);
    unit.waiting.endBackfillAtOnce();
    this.#forget(backfill);
  }

  /** Waits until no forecasts are on their way to a unit that was drained: they must not mix with its next ones. */
  async settled(): Promise<void> {
    await this.#detached;
    this.#detached = null;
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Time that the task sleeps, which would sleep for `atMostMs`; null: until it is woken. */
  sleepMs(atMostMs: number | null): number | null {
    if (this.#failure !== null) return 0;
    if (this.#round !== null || this.waiting === 0) return atMostMs;
    return Math.min(this.#pace.waitMs(performance.now()), atMostMs ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Continues with what forecasts have arrived for, and requests the next ones. Throws when the model has failed.
   */
  step({ sink, signal, wake }: BackfillOutlets): void {
    const nowMs = performance.now();
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#round !== null || this.#pace.waitMs(nowMs) > 0) return;
    const waiting = this.#active;
    this.#active = [];
    let forecasts = 0;
    const proceed = (backfill: Backfill) => {
      if (!this.#advance(backfill, sink)) return;
      this.#active.push(backfill);
      forecasts += backfill.unit.forecastsDue().length;
    };
    waiting.forEach(proceed);
    for (const next of this.#slots) {
      if (forecasts >= ROUND_FORECASTS_MAX) break;
      this.#slots.delete(next);
      proceed(next);
    }
    if (this.#active.length === 0) return;
    this.#pace.reserve(nowMs, forecasts);
    const units = this.#active.map(({ unit }) => unit);
    this.#round = this.#forecasts
      .supply(units, signal)
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#round = null;
        wake();
      });
  }

  /** Returns whether forecasts are due. Otherwise the unit has no backfill any more. */
  #advance(backfill: Backfill, sink: ScoreSink): boolean {
    const { unit } = backfill;
    const { waiting } = unit;
    const queued = waiting.forBackfill!;
    if (backfill.outdated !== null) {
      if (!unit.replay(queued[0], this.#deferred(backfill))) return true;
      this.#complete(backfill, sink);
    }
    sink.state.touched(unit);
    while (queued.length > 0) {
      if (!unit.settle(sink) || !unit.ingest(queued[0], sink)) return true;
      waiting.endForecast();
      waiting.shift();
    }
    if (!unit.settle(sink)) return true;
    waiting.endBackfill();
    this.#forget(backfill);
    return false;
  }

  #forget(backfill: Backfill): void {
    this.#all.delete(backfill.unit);
    this.#slots.delete(backfill);
  }

  /** The state of the unit replaces that of the one which it continues. */
  #complete(backfill: Backfill, sink: ScoreSink): void {
    const { unit, outdated, windows, backfilled } = backfill;
    if (outdated === null) return;
    backfill.outdated = null;
    this.#continuing--;
    this.#replace(outdated, unit, sink);
    sink.state.windowsWritten([...windows.values()]);
    for (const values of backfilled) sink.counters.backfilled(values);
  }

  #deferred({ windows, backfilled }: Backfill): ReplaySink {
    return {
      state: {
        windowClosed: (series: ChangelogSeries) => {
          const { key, value } = closedWindowRecord(series);
          windows.set(key.toString('latin1'), { key, value });
        },
      },
      counters: { backfilled: (values) => void backfilled.push(values) },
    };
  }
}
