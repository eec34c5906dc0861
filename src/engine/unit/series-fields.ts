import type { ReplicaTurns } from '../../checkpoint/replica-state.ts';
import type { InputPlace } from '../../records/input-place.ts';
import type { BoundDetector } from './bound-detector.ts';
import type { UnitHome } from './detection-unit.ts';
import { OpenSteps } from './open-steps.ts';
import type { SeriesPast } from './series-past.ts';
import type { HeldEvents } from './unit-events.ts';
import type { HeldArrivals } from './waiting-arrivals.ts';

/** Values of the past that a detector has not seen so far. */
interface UnseenPast {
  readonly kept: SeriesPast;
  next: number;
}

/** What few series have at a time. */
interface Seldom {
  /** The id of name and labels, where a template made the key. */
  readonly source: string | null;
  readonly steps: OpenSteps | null;
  readonly heldEvents: HeldEvents | null;
  readonly heldArrivals: HeldArrivals | null;
  readonly replicas: ReplicaTurns | null;
  readonly heardMs: number;
  readonly silent: boolean;
  readonly restartUnsaid: boolean;
  readonly unseen: UnseenPast | null;
}

const NOTHING: Seldom = {
  source: null,
  steps: null,
  heldEvents: null,
  heldArrivals: null,
  replicas: null,
  heardMs: Number.NEGATIVE_INFINITY,
  silent: false,
  restartUnsaid: false,
  unseen: null,
};
const FIELDS = Object.keys(NOTHING) as (keyof Seldom)[];

/**
 * Fields of a series. There are many series, so that what all of a detector have in common is one object, and so is
 * what those have that have nothing out of the ordinary.
 */
export class SeriesFields {
  readonly home: UnitHome;
  #seldom: Seldom;

  constructor(home: UnitHome, source: string | null) {
    this.home = home;
    const { bound, place } = home;
    const steps = OpenSteps.of(bound.config.settings, { ...place, group: null });
    this.#seldom = changed(changed(NOTHING, 'source', source), 'steps', steps);
  }

  get bound(): BoundDetector {
    return this.home.bound;
  }

  get place(): InputPlace {
    return this.home.place;
  }

  get group(): null {
    return null;
  }

  get source(): string | null {
    return this.#seldom.source;
  }

  get steps(): OpenSteps | null {
    return this.#seldom.steps;
  }

  get heldEvents(): HeldEvents | null {
    return this.#seldom.heldEvents;
  }

  set heldEvents(heldEvents: HeldEvents | null) {
    this.#seldom = changed(this.#seldom, 'heldEvents', heldEvents);
  }

  get heldArrivals(): HeldArrivals | null {
    return this.#seldom.heldArrivals;
  }

  set heldArrivals(heldArrivals: HeldArrivals | null) {
    this.#seldom = changed(this.#seldom, 'heldArrivals', heldArrivals);
  }

  get replicas(): ReplicaTurns | null {
    return this.#seldom.replicas;
  }

  set replicas(replicas: ReplicaTurns | null) {
    this.#seldom = changed(this.#seldom, 'replicas', replicas);
  }

  get heardMs(): number {
    return this.#seldom.heardMs;
  }

  set heardMs(heardMs: number) {
    this.#seldom = changed(this.#seldom, 'heardMs', heardMs);
  }

  get silent(): boolean {
    return this.#seldom.silent;
  }

  set silent(silent: boolean) {
    this.#seldom = changed(this.#seldom, 'silent', silent);
  }

  /** Whether the series has started over, and no score has reported it. */
  get restartUnsaid(): boolean {
    return this.#seldom.restartUnsaid;
  }

  set restartUnsaid(restartUnsaid: boolean) {
    this.#seldom = changed(this.#seldom, 'restartUnsaid', restartUnsaid);
  }

  /** null for none. */
  get unseen(): UnseenPast | null {
    return this.#seldom.unseen;
  }

  set unseen(unseen: UnseenPast | null) {
    this.#seldom = changed(this.#seldom, 'unseen', unseen);
  }
}

function changed<F extends keyof Seldom>(seldom: Seldom, field: F, value: Seldom[F]): Seldom {
  if (seldom[field] === value) return seldom;
  const next = { ...seldom, [field]: value };
  return FIELDS.every((each) => next[each] === NOTHING[each]) ? NOTHING : next;
}
