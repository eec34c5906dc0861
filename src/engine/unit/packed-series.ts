import type { ActiveReplicas } from '../../checkpoint/arrival-state.ts';
import type { ProfileState } from '../../detection/profile/profile-layout.ts';
import { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { InputPlace } from '../../records/score-record.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import { OpenSteps } from './open-steps.ts';
import type { DetectorContext } from './scorable.ts';
import type { HeldEvents } from './unit-events.ts';
import type { HeldArrivals } from './waiting-arrivals.ts';

/** State that a series hands on to the unit that replaces it under other settings. */
export interface SeriesPast {
  /** One a time step; NaN if missing. */
  readonly values: Float64Array;
  /** Event time of the first. */
  readonly originMs: number;
  /** Event time of the newest record. */
  readonly newestMs: number;
  /** Its seasonal profile; null for none. */
  readonly profile: ProfileState | null;
}

/** Values of the past that a detector has not seen so far. */
interface UnseenPast {
  readonly kept: SeriesPast;
  next: number;
}

/** State that few series have at a time. */
interface SparseState {
  /** The id of name and labels, where a template made the key. */
  readonly source: string | null;
  readonly steps: OpenSteps | null;
  readonly heldEvents: HeldEvents | null;
  readonly heldArrivals: HeldArrivals | null;
  readonly replicas: ActiveReplicas | null;
  readonly lastSeenMs: number;
  readonly silent: boolean;
  readonly restartUnreported: boolean;
  readonly unseen: UnseenPast | null;
}

const NOTHING: SparseState = {
  source: null,
  steps: null,
  heldEvents: null,
  heldArrivals: null,
  replicas: null,
  lastSeenMs: Number.NEGATIVE_INFINITY,
  silent: false,
  restartUnreported: false,
  unseen: null,
};
const FIELDS = Object.keys(NOTHING) as (keyof SparseState)[];

/**
 * What a series keeps, packed, because there are many series. Each trick saves memory of each of them:
 *
 *   DetectorContext      what all series of a detector share is one object
 *   SparseState          what few series have is one object of theirs; all others share NOTHING
 *   SeriesRings          numbers and event times are in slabs of typed arrays, which accessors read and write
 *   UnitEvents, WaitingArrivals   are views, made when they are needed and kept by none
 *   private methods      of ScoredSeries are private by their types: one with a # would be a further field
 *   `watches`            a bit for each list of deadlines instead of a set of the units in it
 */
export class PackedSeries {
  readonly context: DetectorContext;
  detector: SeriesDetector;
  #sparse: SparseState;

  constructor(context: DetectorContext, source: string | null) {
    this.context = context;
    this.detector = new SeriesDetector(context.memory);
    const { loaded, place } = context;
    const steps = OpenSteps.of(loaded.config.settings, { ...place, group: null });
    this.#sparse = changed(changed(NOTHING, 'source', source), 'steps', steps);
  }

  /** Event time of position 0. */
  get originMs(): number {
    return this.detector.rings.originMs;
  }

  set originMs(ms: number) {
    this.detector.rings.originMs = ms;
  }

  get arrivedMs(): number {
    return this.detector.rings.arrivedMs;
  }

  set arrivedMs(ms: number) {
    this.detector.rings.arrivedMs = ms;
  }

  /** As `arrivedMs`, of the records that were accepted. */
  get acceptedMs(): number {
    return this.detector.rings.newestMs;
  }

  get loaded(): LoadedDetector {
    return this.context.loaded;
  }

  get place(): InputPlace {
    return this.context.place;
  }

  get group(): null {
    return null;
  }

  get source(): string | null {
    return this.#sparse.source;
  }

  get steps(): OpenSteps | null {
    return this.#sparse.steps;
  }

  get heldEvents(): HeldEvents | null {
    return this.#sparse.heldEvents;
  }

  set heldEvents(heldEvents: HeldEvents | null) {
    this.#sparse = changed(this.#sparse, 'heldEvents', heldEvents);
  }

  get heldArrivals(): HeldArrivals | null {
    return this.#sparse.heldArrivals;
  }

  set heldArrivals(heldArrivals: HeldArrivals | null) {
    this.#sparse = changed(this.#sparse, 'heldArrivals', heldArrivals);
  }

  get replicas(): ActiveReplicas | null {
    return this.#sparse.replicas;
  }

  set replicas(replicas: ActiveReplicas | null) {
    this.#sparse = changed(this.#sparse, 'replicas', replicas);
  }

  get lastSeenMs(): number {
    return this.#sparse.lastSeenMs;
  }

  set lastSeenMs(lastSeenMs: number) {
    this.#sparse = changed(this.#sparse, 'lastSeenMs', lastSeenMs);
  }

  get silent(): boolean {
    return this.#sparse.silent;
  }

  set silent(silent: boolean) {
    this.#sparse = changed(this.#sparse, 'silent', silent);
  }

  get restartUnreported(): boolean {
    return this.#sparse.restartUnreported;
  }

  set restartUnreported(restartUnreported: boolean) {
    this.#sparse = changed(this.#sparse, 'restartUnreported', restartUnreported);
  }

  /** null for none. */
  get unseen(): UnseenPast | null {
    return this.#sparse.unseen;
  }

  set unseen(unseen: UnseenPast | null) {
    this.#sparse = changed(this.#sparse, 'unseen', unseen);
  }
}

function changed<F extends keyof SparseState>(sparse: SparseState, field: F, value: SparseState[F]): SparseState {
  if (sparse[field] === value) return sparse;
  const next = { ...sparse, [field]: value };
  return FIELDS.every((each) => next[each] === NOTHING[each]) ? NOTHING : next;
}
