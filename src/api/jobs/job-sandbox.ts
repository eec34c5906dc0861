import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { ModelCatalog } from '../../models/catalog.ts';
import { bytesOfWeights, shareWeights } from '../../models/tuned-weights.ts';
import type { SandboxProgram } from '../../sandbox/program.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { SANDBOX_LIMITS, type SandboxLimits, type SandboxOutcome } from '../../sandbox/sandbox-run.ts';
import {
  noObserver,
  type ObservedTuning,
  type RequestedTuning,
  type TuningEnd,
  type TuningObserver,
} from '../models/tuning-progress.ts';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';
import { INTERNAL_ERROR, type JobExecutor, type JobOutcome, type JobRun } from './job.ts';
import type { AnswerHeader, JobHeader, ModelsSetup, TuningNews } from './job-program.ts';

/** Outcomes of fine-tunings that ended with the sandbox. */
const TUNING_ENDS = {
  output: 'failed',
  problem: 'failed',
  ended: 'failed',
  stopped: 'stopped',
  timeout: 'too-long',
  'out-of-memory': 'too-large',
  'output-too-large': 'too-large',
} as const satisfies Record<SandboxOutcome['kind'], TuningEnd['kind']>;

interface JobSandboxOptions {
  readonly observe?: TuningObserver;
  /** Jobs that run at once, each in a child of its own. */
  readonly slots?: number;
}

/** Memory of the machine that jobs may use, and the most jobs at once. */
const MEMORY_SHARE = 0.5;
const SLOTS_MAX = 4;

/** Memory of this process, MiB: the limit of its container, which is 0 or huge without one, or the machine. */
export function usableMemoryMb(machineBytes = totalmem(), limitBytes = process.constrainedMemory()): number {
  return Math.min(machineBytes, limitBytes || machineBytes) / 2 ** 20;
}

/** Jobs that run at once on a machine: two on two cores, so that a long job does not hold up a short one. */
export function slotsOf(cores: number, memoryMb: number, jobMemoryMbMax: number): number {
  const fitting = Math.floor((memoryMb * MEMORY_SHARE) / jobMemoryMbMax);
  return Math.max(1, Math.min(cores, fitting, SLOTS_MAX));
}

export function programWithModels(entry: URL, catalog: ModelCatalog): SandboxProgram {
  const models = catalog.names.map((name) => catalog.get(name));
  const aliases = Object.fromEntries(catalog.aliases.map((alias) => [alias, catalog.get(alias).name]));
  const setup: ModelsSetup = { models, aliases };
  const readable = [...new Set(models.map(({ graphPath }) => dirname(graphPath)))];
  return { entry, setup: Buffer.from(JSON.stringify(setup)), readable };
}

/** Runs jobs in sandboxed child processes that have the models loaded. A child starts with its first job. */
export class JobSandbox implements JobExecutor {
  readonly #free: Sandbox[];
  readonly #sandboxes: readonly Sandbox[];
  readonly #limits: SandboxLimits;
  readonly #observe: TuningObserver;

  constructor(
    catalog: ModelCatalog,
    limits: Partial<SandboxLimits> = {},
    { observe = noObserver, slots = 1 }: JobSandboxOptions = {},
  ) {
    this.#observe = observe;
    this.#limits = { ...SANDBOX_LIMITS, ...limits };
    const program = programWithModels(new URL('./job-program.ts', import.meta.url), catalog);
    this.#sandboxes = Array.from({ length: slots }, () => new Sandbox(program, this.#limits));
    this.#free = [...this.#sandboxes];
  }

  get slots(): number {
    return this.#sandboxes.length;
  }

  async run({ task, request, named = null, timeoutMs, signal, onProgress }: JobRun): Promise<JobOutcome> {
    const header = { task, requestBytes: request.length, named: named?.model ?? null };
    const bytes = named === null ? request : Buffer.concat([request, bytesOfWeights(named.weights.theta)]);
    const input = encodeEnvelope<JobHeader>({ header, bytes });
    const tunings = this.#follow(onProgress);
    const sandbox = this.#free.pop();
    assert(sandbox !== undefined, 'a slot is free');
    const outcome = await sandbox.run(input, { timeoutMs, signal, onProgress: tunings.onProgress });
    this.#free.push(sandbox);
    tunings.close(outcome);
    return this.#outcomeOf(outcome, timeoutMs);
  }

  async close(): Promise<void> {
    await Promise.all(this.#sandboxes.map((sandbox) => sandbox.close()));
  }

  /** Reports the fine-tunings of the child. One that is cut off gets the outcome of the run. */
  #follow(onProgress: JobRun['onProgress']) {
    let open: (ObservedTuning & { readonly requested: RequestedTuning }) | null = null;
    return {
      onProgress: (bytes: Buffer) => {
        const news = JSON.parse(bytes.toString()) as TuningNews;
        if (news.kind === 'requested') open = { ...this.#observe(news.requested), requested: news.requested };
        else if (news.kind === 'ended') {
          open?.ended(news.end);
          open = null;
        } else {
          open?.stepped(news.step);
          if (open !== null) onProgress?.({ step: news.step, steps: open.requested.steps });
        }
      },
      close: ({ kind }: SandboxOutcome) => open?.ended({ kind: TUNING_ENDS[kind] }),
    };
  }

  #outcomeOf(outcome: SandboxOutcome, timeoutMs: number): JobOutcome {
    const { memoryMbMax, outputBytesMax } = this.#limits;
    switch (outcome.kind) {
      case 'output': {
        const { header, bytes } = decodeEnvelope<AnswerHeader>(outcome.output);
        if (header.kind === 'failed') return header;
        const { kind, tokens, resultBytes, made } = header;
        const result = bytes.subarray(0, resultBytes);
        return { kind, tokens, result, made: made && { ...made, weights: shareWeights(bytes.slice(resultBytes)) } };
      }
      case 'stopped':
        return outcome;
      case 'timeout':
        return { kind: 'failed', error: `The job was stopped after ${timeoutMs / 1_000} seconds, its limit` };
      case 'out-of-memory': {
        const error = `The job needed more memory than allowed (${memoryMbMax} MiB); send less at once`;
        return { kind: 'failed', error };
      }
      case 'output-too-large': {
        const error = `The result would have more than ${outputBytesMax} bytes; request less at once`;
        return { kind: 'failed', error };
      }
      case 'problem':
      case 'ended':
        return { kind: 'failed', error: INTERNAL_ERROR, cause: outcome.text };
    }
  }
}
