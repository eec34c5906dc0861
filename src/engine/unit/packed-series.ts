import type { ActiveReplicas } from '../../checkpoint/replica-state.ts';
import type { InputPlace } from '../../records/input-place.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import { OpenSteps } from './open-steps.ts';
import type { DetectorContext } from './scorable.ts';
import type { SeriesPast } from './series-past.ts';
import type { HeldEvents } from './unit-events.ts';
import type { HeldArrivals } from './waiting-arrivals.ts';

/** Values of the past that a detector has not seen so far. */
interface UnseenPast {
  readonly kept: SeriesPast;
  next: number;
}

/** What few series have at a time. */
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
 * Fields of a series. There are many series, so that what all of a detector have in common is one object, and so is
 * what those have that have nothing out of the ordinary.
 */
export class PackedSeries {
  readonly context: DetectorContext;
  #sparse: SparseState;

  constructor(context: DetectorContext, source: string | null) {
    this.context = context;
    const { loaded, place } = context;
    const steps = OpenSteps.of(loaded.config.settings, { ...place, group: null });
    this.#sparse = changed(changed(NOTHING, 'source', source), 'steps', steps);
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

  /** True if the series has started over, and no score has reported it. */
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
