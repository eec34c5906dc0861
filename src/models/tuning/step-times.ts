/** Weight of a finished tuning in the moving average. */
const NEWEST = 0.5;

/** Train steps of a tuning of `steps`, its trial included. */
export function workSteps(steps: number): number {
  return steps === 0 ? 0 : steps + trialStepsOf(steps);
}

/** The trial takes this share of the steps, and at least this many. */
const TRIAL_SHARE = 0.25;
const TRIAL_STEPS_MIN = 10;

export function trialStepsOf(steps: number): number {
  return Math.min(steps, Math.max(TRIAL_STEPS_MIN, Math.ceil(steps * TRIAL_SHARE)));
}

/** Load changes: an older measurement has no weight. */
const FRESH_MS = 600_000;

interface StepTime {
  readonly ms: number;
  readonly atMs: number;
}

/** The parameters that decide how long a tuning takes. */
interface TuningSize {
  readonly steps: number;
  readonly depth: number;
}

/** Duration of a train step: a moving average by model and depth, under the present load. */
export class StepTimes {
  readonly #known = new Map<string, StepTime>();
  /** The least milliseconds of a step, without expiry. */
  readonly #fastest = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Milliseconds of a tuning; null while none of the model at this depth has ended recently. */
  estimate(model: string, { steps, depth }: TuningSize): number | null {
    const known = this.#fresh(nameOf(model, depth));
    return known === null ? null : known.ms * workSteps(steps);
  }

  /** Milliseconds of a tuning at the least load there was; null while none of the model at this depth has ended. */
  atBest(model: string, { steps, depth }: TuningSize): number | null {
    const ms = this.#fastest.get(nameOf(model, depth));
    return ms === undefined ? null : ms * workSteps(steps);
  }

  /** Notes a tuning that ended, or would have ended, after `ms`. */
  note(model: string, { steps, depth }: TuningSize, ms: number): void {
    const work = workSteps(steps);
    if (work === 0) return;
    const name = nameOf(model, depth);
    const before = this.#fresh(name)?.ms ?? ms / work;
    this.#fastest.set(name, Math.min(this.#fastest.get(name) ?? Number.POSITIVE_INFINITY, ms / work));
    this.#known.set(name, { ms: before + NEWEST * (ms / work - before), atMs: this.#nowMs() });
  }

  #fresh(name: string): StepTime | null {
    const known = this.#known.get(name);
    return known !== undefined && this.#nowMs() - known.atMs < FRESH_MS ? known : null;
  }
}

const nameOf = (model: string, depth: number) => `${depth} ${model}`;
