import type { PrometheusSource } from '../../config/keys/source-keys.ts';

/** Prometheus answers at most 11,000 steps of a series. */
export const STEPS_MAX = 10_000;
/** Steps of the first request, before it is known how long an answer is. */
export const STEPS_FIRST = 500;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
/** From so many failures in a row on a source is not ready. */
const TROUBLE_FAILURES = 2;
/** A partial answer is requested again so often, over six minutes; then it is used. */
export const PARTIAL_ATTEMPTS_MAX = 12;

/** The state of a source while it is polled. */
export interface SourceState {
  readonly source: PrometheusSource;
  /** The oldest step that was not written yet, milliseconds since the epoch. */
  readonly nextMs: number;
  /** Steps of a request at present. */
  readonly steps: number;
  /** Unusable answers in a row, and how many of them were partial. */
  readonly failures: number;
  readonly partials: number;
  /** Not asked before. */
  readonly notBeforeMs: number;
  /** Why it is not polled at present; null if it is. */
  readonly trouble: string | null;
}

/** @param positionMs the oldest step that was not written yet; null if the source was never polled */
export function sourceState(source: PrometheusSource, positionMs: number | null, nowMs: number): SourceState {
  const { stepMs, historyMs } = source;
  // Steps are multiples of the step since the epoch, also after it was changed.
  const nextMs = Math.ceil((positionMs ?? nowMs - historyMs) / stepMs) * stepMs;
  return { source, nextMs, steps: STEPS_FIRST, failures: 0, partials: 0, notBeforeMs: 0, trouble: null };
}

export interface AskedSteps {
  readonly state: SourceState;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The next request: the same range of all sources, so that no series runs ahead of those of others. */
type PollPlan =
  | { readonly kind: 'ask'; readonly asked: readonly AskedSteps[] }
  | { readonly kind: 'wait'; readonly ms: number };

export function nextPoll(states: readonly SourceState[], nowMs: number): PollPlan {
  const due = states.filter((state) => dueMs(state) <= nowMs);
  // After one failure the poller waits for the source; after more, the source catches up when it answers again.
  const retried = states.filter((state) => state.failures > 0 && state.trouble === null && !due.includes(state));
  const beforeMs = Math.min(...retried.map(({ nextMs }) => nextMs));
  const share = (steps: number) => Math.max(1, Math.floor(steps / due.length));
  const endMs = Math.min(...due.map(({ nextMs, steps, source }) => nextMs + (share(steps) - 1) * source.stepMs));
  const asked = due.flatMap((state): AskedSteps[] => {
    const { source, nextMs } = state;
    const lastMs = Math.min(endMs, nowMs - source.delayMs, beforeMs - source.stepMs);
    const steps = Math.floor((lastMs - nextMs) / source.stepMs);
    return steps < 0 ? [] : [{ state, fromMs: nextMs, toMs: nextMs + steps * source.stepMs }];
  });
  if (asked.length > 0) return { kind: 'ask', asked };
  return { kind: 'wait', ms: Math.min(...states.filter((state) => !due.includes(state)).map(dueMs)) - nowMs };
}

function dueMs({ nextMs, notBeforeMs, source }: SourceState): number {
  return Math.max(nextMs + source.delayMs, notBeforeMs);
}

/** After the steps up to `toMs` were written. */
export function polled(state: SourceState, toMs: number): SourceState {
  const steps = Math.min(2 * state.steps, STEPS_MAX);
  const nextMs = toMs + state.source.stepMs;
  return { ...state, nextMs, steps, failures: 0, partials: 0, notBeforeMs: 0, trouble: null };
}

/** After an answer that is too large: half of its steps are requested at once. One step cannot be halved. */
export function tooLarge(state: SourceState, askedSteps: number, failure: UselessAnswer): SourceState {
  if (askedSteps <= 1) return failed(state, { ...failure, detail: `${failure.detail}: narrow the query` });
  return { ...state, steps: Math.max(1, Math.floor(askedSteps / 2)) };
}

interface UselessAnswer {
  readonly detail: string;
  readonly nowMs: number;
}

/** After an answer that is not the whole one. */
export function partial(state: SourceState, failure: UselessAnswer): SourceState {
  return { ...failed(state, failure), partials: state.partials + 1 };
}

export function failed(state: SourceState, { detail, nowMs }: UselessAnswer): SourceState {
  const failures = state.failures + 1;
  const delayMs = Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX);
  // A connection that was closed while it was idle fails once.
  const trouble = failures >= TROUBLE_FAILURES ? detail : null;
  return { ...state, failures, notBeforeMs: nowMs + delayMs, trouble };
}
