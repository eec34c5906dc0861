import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { decodeEnvelope, type Envelope, encodeEnvelope } from '../../api/jobs/envelope.ts';
import { programWithModels, slotsOf, usableMemoryMb } from '../../api/jobs/job-sandbox.ts';
import type {
  BacktestFile,
  BacktestOutcome,
  Backtests,
  KeptValues,
  ScoringTurn,
  WhatIfOutcome,
  WhatIfQuestion,
} from '../../api/operations/backtests.ts';
import { tooManyCalls } from '../../api/wire/problem.ts';
import { loadFinetuned } from '../../engine/detector-models.ts';
import { matchDetectors } from '../../engine/unit/loaded-detector.ts';
import type { ModelCatalog } from '../../models/catalog.ts';
import { bytesOfWeights } from '../../models/tuned-weights.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import type { SandboxOutcome } from '../../sandbox/sandbox-run.ts';
import { Turns } from '../../sandbox/turns.ts';
import type { Database } from '../../store/database/database.ts';
import type { FinetunedWeights } from '../../store/models/finetuned-weights.ts';
import type { ScoringAnswerHeader, ScoringHeader } from './backtest-program.ts';
import { noDetector } from './scoring-models.ts';

/** Memory of a child, MiB: several times what the largest file needs. */
const MEMORY_MB_MAX = 1_536;
const HEAP_MB_MAX = 1_024;
const PLACES_MAX = 2;

/** Files and what-ifs at once on a machine. */
function placesOf(cores: number, memoryMb: number): number {
  return Math.min(PLACES_MAX, slotsOf(cores, memoryMb, MEMORY_MB_MAX));
}

export const BACKTEST_LIMITS = {
  /** Files and what-ifs that are scored at once, each in a child of its own. One owner leaves one place to others. */
  places: placesOf(availableParallelism(), usableMemoryMb()),
  /** A file, or a what-if, that takes longer is stopped. */
  scoringMsMax: 120_000,
  /** One whose turn has not come by then is refused as `overloaded`: its client would miss the answer. */
  waitingMsMax: 120_000,
  /** Files and what-ifs of one owner that run or wait. One more is refused with 429. */
  ofOwnerMax: 4,
  /** Those of all owners. One more is refused as `overloaded`. */
  ofAllMax: 32,
};
export type BacktestLimits = Readonly<typeof BACKTEST_LIMITS>;

/** `Retry-After` of an owner that has enough waiting. */
const RETRY_AFTER_MS = 10_000;

interface BacktestParts {
  readonly catalog: ModelCatalog;
  readonly database: Database;
  readonly kept: FinetunedWeights;
  readonly limits?: Partial<BacktestLimits>;
}

/** Scores files and kept values in sandboxed processes. Owners take turns. */
export class BacktestSandbox implements Backtests {
  readonly #parts: BacktestParts;
  readonly #limits: BacktestLimits;
  readonly #sandboxes: readonly Sandbox[];
  /** Those that score nothing. */
  readonly #free: Sandbox[];
  readonly #turns: Turns;
  readonly #closing = new AbortController();

  constructor(parts: BacktestParts) {
    const { catalog, limits } = parts;
    this.#parts = parts;
    this.#limits = { ...BACKTEST_LIMITS, ...limits };
    const program = programWithModels(new URL('./backtest-program.ts', import.meta.url), catalog);
    const { places } = this.#limits;
    const memory = { memoryMbMax: MEMORY_MB_MAX, heapMbMax: HEAP_MB_MAX };
    this.#sandboxes = Array.from({ length: places }, () => new Sandbox(program, memory));
    this.#free = [...this.#sandboxes];
    this.#turns = new Turns({ places, ofOwner: Math.max(1, places - 1) });
  }

  async backtest({ name, csv, settings }: BacktestFile, turn: ScoringTurn): Promise<BacktestOutcome> {
    const answer = await this.#score(turn, () => ({
      header: { kind: 'backtest', name, settings },
      bytes: Buffer.from(csv),
    }));
    if (answer.kind === 'problems') return answer;
    const { header, bytes } = answer;
    if (header.kind !== 'backtest') throw new TypeError(`a backtest was answered as ${header.kind}`);
    return { kind: 'report', json: bytes, observations: header.observations };
  }

  async detectorOf(...[detectors, series]: Parameters<Backtests['detectorOf']>): ReturnType<Backtests['detectorOf']> {
    const found = matchDetectors(detectors.map((config) => ({ config })))(series)?.config;
    if (found === undefined) return { kind: 'problems', problems: [noDetector(series)] };
    const { catalog, database, kept } = this.#parts;
    const { name, model } = found;
    const isPretrained = [...catalog.names, ...catalog.aliases].includes(model);
    if (isPretrained) return { kind: 'detector', detector: { name, model, pretrained: model, weights: null } };
    const tuned = await loadFinetuned(model, { database, kept, catalog });
    if (tuned?.weights == null) return { kind: 'problems', problems: [`${name}: there is no model ${model}`] };
    const { theta } = tuned.weights;
    const detector = { name, model, pretrained: tuned.model.name, weights: bytesOfWeights(theta) };
    return { kind: 'detector', detector };
  }

  async whatIf(
    { past, group, detectorsText, detector, alternatives, fromMs }: WhatIfQuestion,
    turn: ScoringTurn,
  ): Promise<WhatIfOutcome> {
    const { model, pretrained, weights } = detector;
    const answer = await this.#score(turn, () => ({
      header: {
        kind: 'what-if',
        series: past.map(({ series, values }) => ({ name: series, count: values.length })),
        group,
        text: detectorsText,
        alternatives,
        fromMs,
        tuned: weights === null ? null : { name: model, base: pretrained },
      },
      bytes: Buffer.concat([...past.map(numbersOf), weights ?? new Uint8Array()]),
    }));
    if (answer.kind === 'problems') return answer;
    const { header } = answer;
    if (header.kind !== 'what-if') throw new TypeError(`a what-if was answered as ${header.kind}`);
    return { ...header, kind: 'scored' };
  }

  /** Stops what runs and what waits, and ends the children. */
  async close(): Promise<void> {
    this.#closing.abort(new ServiceError('overloaded', 'the service is shutting down', { retryable: true }));
    await Promise.all(this.#sandboxes.map((sandbox) => sandbox.close()));
  }

  /** @param input made in its turn, so that what waits holds no copies */
  async #score({ owner, signal }: ScoringTurn, input: () => Envelope<ScoringHeader>): Promise<Scored> {
    const { scoringMsMax, waitingMsMax, ofOwnerMax, ofAllMax } = this.#limits;
    if (this.#turns.heldBy(owner) >= ofOwnerMax) {
      throw tooManyCalls(`Keys of one owner may have ${ofOwnerMax} waiting files and what-ifs`, RETRY_AFTER_MS);
    }
    if (this.#turns.held >= ofAllMax) {
      throw new ServiceError('overloaded', `${ofAllMax} files and what-ifs wait already`, { retryable: true });
    }
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    const late = AbortSignal.timeout(waitingMsMax);
    const waited = AbortSignal.any([stopped, late]);
    const scoring = this.#turns.run(owner, waited, async () => {
      const sandbox = this.#free.pop();
      assert(sandbox !== undefined, 'a place has a sandbox');
      const run = { timeoutMs: scoringMsMax, signal: stopped };
      return sandbox.run(encodeEnvelope(input()), run).finally(() => this.#free.push(sandbox));
    });
    const outcome = await scoring.catch((error: unknown) => {
      if (error !== late.reason) throw error;
      throw new ServiceError('overloaded', `still waiting after ${waitingMsMax} ms`, { retryable: true });
    });
    if (outcome.kind !== 'output') return { kind: 'problems', problems: [problemOf(outcome, stopped, scoringMsMax)] };
    const { header, bytes } = decodeEnvelope<ScoringAnswerHeader>(outcome.output);
    return header.kind === 'problems' ? header : { kind: 'answer', header, bytes: Buffer.from(bytes) };
  }
}

type Scored =
  | { readonly kind: 'problems'; readonly problems: readonly string[] }
  | {
      readonly kind: 'answer';
      readonly header: Exclude<ScoringAnswerHeader, { readonly kind: 'problems' }>;
      readonly bytes: Buffer;
    };

function numbersOf({ timestamps, values }: KeptValues): Buffer {
  return Buffer.concat([timestamps, values].map((column) => Buffer.from(column.slice().buffer)));
}

/** Throws if the program failed, or the caller has left. Faults of the request are returned as problems. */
function problemOf(
  outcome: Exclude<SandboxOutcome, { readonly kind: 'output' }>,
  { reason }: AbortSignal,
  scoringMsMax: number,
): string {
  switch (outcome.kind) {
    case 'stopped':
      throw reason;
    case 'timeout':
      return `scoring takes longer than ${scoringMsMax / 1_000} s: send fewer observations, or a larger h`;
    case 'out-of-memory':
    case 'output-too-large':
      return 'scoring needs too much memory: send fewer observations';
    case 'problem':
    case 'ended':
      throw new ServiceError('internal', `scoring failed: ${outcome.text}`);
  }
}
