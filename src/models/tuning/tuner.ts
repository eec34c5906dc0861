import assert from 'node:assert/strict';
import { ServiceError } from '../../ops/service-error.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { Turns } from '../../sandbox/turns.ts';
import type { Model } from '../catalog.ts';
import { currentOwner } from '../request-owner.ts';
import { readWeights, type TuningGraphs, weightCount } from '../tuning-graphs.ts';
import { tunableModels } from './in-thread-tuner.ts';
import { StepTimes } from './step-times.ts';
import type { Tuned } from './tune.ts';
import { inputBytes, readOutput, type TuningRequest } from './tuning-bytes.ts';

const TUNER_LIMITS = {
  /** A tuning that takes longer is stopped. */
  tuningMsMax: 300_000,
  /** Memory of the child process, MiB. A tuning that needs more is stopped. */
  memoryMbMax: 2_048,
  /** A tuning whose answer would take longer, waiting included, is refused at once. */
  // Public clients wait 60 s for an answer.
  answerMsMax: 55_000,
  /** Tunings of one owner that wait. Beyond it a tuning is rejected as `overloaded`. */
  waitingMax: 32,
};
type TunerLimits = Readonly<typeof TUNER_LIMITS>;

/** A client waits for the answer: it has its share of the processors, also under a busy stream. */
const NICENESS = 0;

/** The first steps are a measure of all of them, where no earlier tuning is. */
const TELLING_SHARE = 0.2;

/** Owners that may have full queues at once. */
const OWNERS_WAITING_MAX = 4;

type TuningOutcome =
  | { readonly kind: 'tuned'; readonly tuned: Tuned }
  /** Over the limits of time or memory; fewer steps or series may fit. */
  | { readonly kind: 'too-long' | 'too-large' }
  /**
   * It would take about so long, more than its client waits. As a job it has more time. `busy`: only under the load of
   * this moment.
   */
  | { readonly kind: 'too-late'; readonly ms: number; readonly busy: boolean };

interface TuningCall {
  /** Name of the pretrained model. */
  readonly model: string;
  /** Initial weights; null: the pretrained ones. */
  readonly base: Float32Array | null;
  readonly request: TuningRequest;
  readonly signal: AbortSignal;
  /** Called with the number of steps done; with 0 when the tuning starts. */
  readonly onStep?: (step: number) => void;
}

type RunningTuning = Pick<TuningCall, 'model' | 'request' | 'signal' | 'onStep'>;

/** Tunes models in a child process, one at a time. Owners take turns; those of one owner run first in, first out. */
export class Tuner {
  readonly #limits: TunerLimits;
  readonly #models: ReadonlyMap<string, Model & { readonly tuning: TuningGraphs }>;
  readonly #pretrained = new Map<string, Promise<Float32Array>>();
  readonly #sandbox: Sandbox;
  readonly #closing = new AbortController();
  readonly #turns = new Turns();
  readonly #running = new Set<Promise<unknown>>();
  readonly #times = new StepTimes();
  /** Estimates of what runs or waits; 0 where unknown. */
  readonly #expectedMs = new Map<Promise<unknown>, { readonly owner: string; readonly ms: number }>();

  constructor(models: readonly Model[], limits: Partial<TunerLimits> = {}) {
    this.#limits = { ...TUNER_LIMITS, ...limits };
    const tunable = models.flatMap((model) => {
      const { tuning } = model.manifest;
      return tuning === null ? [] : [{ ...model, tuning }];
    });
    this.#models = new Map(tunable.map((model) => [model.name, model]));
    const tunables = tunableModels(tunable);
    const program = {
      entry: new URL('./tuning-program.ts', import.meta.url),
      setup: Buffer.from(JSON.stringify(tunables)),
      readable: tunables.map(({ stepPath }) => stepPath),
    };
    this.#sandbox = new Sandbox(program, { memoryMbMax: this.#limits.memoryMbMax, niceness: NICENESS });
  }

  /**
   * Tunes a pretrained model, or weights that were tuned from it. Rejects with the reason of the signal. Throws
   * ServiceError `overloaded` when the queue is full, `internal` when the child ended unexpectedly.
   */
  async tune({ model, base, request, signal, onStep = () => {} }: TuningCall): Promise<TuningOutcome> {
    const known = this.#models.get(model);
    assert(known !== undefined, `model ${model} cannot be tuned`);
    assert(base === null || base.length === weightCount(known.tuning), 'the weights fit the model');
    const owner = currentOwner();
    const { waitingMax } = this.#limits;
    const [own, all] = [this.#turns.heldBy(owner), this.#turns.held];
    if (own > waitingMax || all > OWNERS_WAITING_MAX * (1 + waitingMax)) {
      const text = `${own} tunings of this owner and ${all} in all wait already, at most ${waitingMax} of an owner may`;
      throw new ServiceError('overloaded', text, { retryable: true });
    }
    const expectedMs = this.#times.estimate(model, request) ?? 0;
    if (expectedMs > this.#limits.answerMsMax) return this.#tooLate(model, request, expectedMs);
    const waitMs = this.#waitOf(owner);
    if (waitMs + expectedMs > this.#limits.answerMsMax) {
      const text = `a tuning would wait ${Math.round(waitMs / 1_000)} s for others and miss its client's time-out`;
      throw new ServiceError('overloaded', text, { retryable: true });
    }
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    const tuning = this.#turns.run(owner, stopped, async () => {
      const input = inputBytes({ ...request, model, base: base ?? (await this.#pretrainedWeights(known)) });
      return this.#run(input, { model, request, signal: stopped, onStep });
    });
    this.#running.add(tuning);
    this.#expectedMs.set(tuning, { owner, ms: expectedMs });
    return tuning.finally(() => {
      this.#running.delete(tuning);
      this.#expectedMs.delete(tuning);
    });
  }

  #tooLate(model: string, request: TuningRequest, ms: number): TuningOutcome {
    const atBestMs = this.#times.atBest(model, request) ?? ms;
    return { kind: 'too-late', ms, busy: atBestMs <= this.#limits.answerMsMax };
  }

  /** Wait of an owner's next tuning: for the owner's own, and in turns for as many of each other owner. */
  #waitOf(owner: string): number {
    const byOwner = Map.groupBy(this.#expectedMs.values(), (expected) => expected.owner);
    const turns = (byOwner.get(owner)?.length ?? 0) + 1;
    const sum = (all: readonly { readonly ms: number }[]) => all.reduce((total, { ms }) => total + ms, 0);
    return [...byOwner].reduce((total, [other, all]) => total + sum(other === owner ? all : all.slice(0, turns)), 0);
  }

  /** Aborts the running tuning and those in the queue, and ends the child. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the service is shutting down'));
    await Promise.allSettled(this.#running);
    await this.#sandbox.close();
  }

  async #run(input: Uint8Array, { model, request, signal, onStep }: Required<RunningTuning>): Promise<TuningOutcome> {
    signal.throwIfAborted();
    onStep(0);
    const { tuningMsMax, answerMsMax } = this.#limits;
    const late = new AbortController();
    let [firstMs, lateMs] = [0, 0];
    const startedMs = performance.now();
    const onProgress = (bytes: Buffer) => {
      const step = bytes.readUInt32LE();
      const passedMs = performance.now() - startedMs;
      // The first step is slower: the graph is loaded.
      if (step === 1) firstMs = passedMs;
      const projectedMs = passedMs + ((passedMs - firstMs) / (step - 1)) * (request.steps - step);
      if (step > 1 && step <= request.steps * TELLING_SHARE && projectedMs > answerMsMax) {
        lateMs = projectedMs;
        late.abort();
      }
      onStep(step);
    };
    const stopped = AbortSignal.any([signal, late.signal]);
    const outcome = await this.#sandbox.run(input, { timeoutMs: tuningMsMax, signal: stopped, onProgress });
    if (lateMs > 0 && !signal.aborted) {
      this.#times.note(model, request, lateMs);
      return this.#tooLate(model, request, lateMs);
    }
    if (outcome.kind === 'output') this.#times.note(model, request, performance.now() - startedMs);
    switch (outcome.kind) {
      case 'output':
        return { kind: 'tuned', tuned: readOutput(outcome.output) };
      case 'stopped':
        throw signal.reason;
      case 'timeout':
        return { kind: 'too-long' };
      case 'out-of-memory':
      case 'output-too-large':
        return { kind: 'too-large' };
      default:
        throw new ServiceError('internal', `a tuning failed: ${outcome.text}`);
    }
  }

  #pretrainedWeights(model: Model & { readonly tuning: TuningGraphs }): Promise<Float32Array> {
    const known = this.#pretrained.get(model.name) ?? readWeights(model.graphPath, model.tuning);
    this.#pretrained.set(model.name, known);
    // A failed read is tried again by the next tuning.
    known.catch(() => this.#pretrained.delete(model.name));
    return known;
  }
}
