import type { PrometheusSource } from '../../config/config.ts';

/** Prometheus answers at most 11,000 steps of a series. */
export const STEPS_MAX = 10_000;
/** Steps of the first request, before it is known how long an answer is. */
export const STEPS_FIRST = 500;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
/** From so many failures in a row on a source is not ready. */
const TROUBLE_FAILURES = 2;
/** An answer that says that it is partial is asked for so often, over six minutes; then it is taken as it is. */
export const PARTIAL_ATTEMPTS_MAX = 12;

/** What is known of a source while it is polled. */
export interface SourceState {
  readonly source: PrometheusSource;
  /** The oldest step that was not written yet, milliseconds since the epoch. */
  readonly nextMs: number;
  /** Steps of a request at present. */
  readonly steps: number;
  /** Answers in a row that were of no use, and how many of them said that they were partial. */
  readonly failures: number;
  readonly partials: number;
  /** Not asked before. */
  readonly notBeforeMs: number;
  /** Why it is not polled at present; null where it is. */
  readonly trouble: string | null;
}

/** @param positionMs the oldest step that was not written yet; null where the source was never polled */
export function sourceState(source: PrometheusSource, positionMs: number | null, nowMs: number): SourceState {
  const { stepMs, historyMs } = source;
  // Steps are multiples of the step since the epoch, also after it was changed.
  const nextMs = Math.ceil((positionMs ?? nowMs - historyMs) / stepMs) * stepMs;
  return { source, nextMs, steps: STEPS_FIRST, failures: 0, partials: 0, notBeforeMs: 0, trouble: null };
}

/** Steps to ask for now: of the source that is furthest behind, so that event time moves on in order. */
export type PollPlan =
  | { readonly kind: 'ask'; readonly state: SourceState; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: 'wait'; readonly ms: number };

export function nextPoll(states: Iterable<SourceState>, nowMs: number): PollPlan {
  let oldest: SourceState | null = null;
  let dueMs = Number.POSITIVE_INFINITY;
  for (const state of states) {
    const { nextMs, notBeforeMs, source } = state;
    const atMs = Math.max(nextMs + source.delayMs, notBeforeMs);
    dueMs = Math.min(dueMs, atMs);
    if (atMs <= nowMs && (oldest === null || nextMs < oldest.nextMs)) oldest = state;
  }
  if (oldest === null) return { kind: 'wait', ms: dueMs - nowMs };
  const { source, nextMs, steps } = oldest;
  const { stepMs, delayMs } = source;
  const complete = Math.floor((nowMs - delayMs - nextMs) / stepMs);
  return { kind: 'ask', state: oldest, fromMs: nextMs, toMs: nextMs + Math.min(complete, steps - 1) * stepMs };
}

/** After the steps up to `toMs` were written. */
export function polled(state: SourceState, toMs: number): SourceState {
  const steps = Math.min(2 * state.steps, STEPS_MAX);
  const nextMs = toMs + state.source.stepMs;
  return { ...state, nextMs, steps, failures: 0, partials: 0, notBeforeMs: 0, trouble: null };
}

/** After an answer that is too large: half of its steps are asked for at once. One step cannot be halved. */
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
