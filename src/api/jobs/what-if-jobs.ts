import { type DetectorQuestion, type DetectorWhatIfParts, tryOnDetector } from '../operations/detector-what-if.ts';
import { problemOf } from '../wire/problem.ts';
import type { JobName, TaskName } from '../wire/task-names.ts';
import { compressedJson } from './answer-job.ts';
import type { JobExecutor, JobOutcome, JobRun } from './job.ts';

/** The request of a what-if: whose series are tried. */
interface WhatIfRequestOfJob extends DetectorQuestion {
  readonly owner: string;
}

/** A what-if of one detector: no longer, as it has a place of other jobs meanwhile. */
export const WHAT_IF_SECONDS_MAX = 900;

export function encodeWhatIf(request: WhatIfRequestOfJob): Uint8Array {
  return Buffer.from(JSON.stringify(request));
}

/** Runs what-ifs over what is kept of the stream, and gives all other jobs on. */
export class WhatIfJobs implements JobExecutor<JobName> {
  readonly #inner: JobExecutor;
  readonly #parts: DetectorWhatIfParts | null;

  /** @param parts null where the service reads no stream: its what-ifs fail */
  constructor(inner: JobExecutor, parts: DetectorWhatIfParts | null) {
    this.#inner = inner;
    this.#parts = parts;
  }

  get slots(): number {
    return this.#inner.slots ?? 1;
  }

  run(run: JobRun<JobName>): Promise<JobOutcome> {
    return isWhatIf(run) ? this.#tryOn(run) : this.#inner.run(run as JobRun<TaskName>);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #tryOn({ request, timeoutMs, signal: stop, onProgress = () => {} }: JobRun<'what_if'>): Promise<JobOutcome> {
    if (this.#parts === null) return { kind: 'failed', error: 'This service keeps no history' };
    const { owner, ...question }: WhatIfRequestOfJob = JSON.parse(Buffer.from(request).toString());
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const turn = { owner, signal: AbortSignal.any([stop, late]), onProgress };
      const { tokens, answer } = await tryOnDetector(this.#parts, question, turn);
      return { kind: 'answered', result: await compressedJson(answer), tokens };
    } catch (error) {
      if (stop.aborted) return { kind: 'stopped' };
      if (late.aborted) return { kind: 'failed', error: `longer than ${timeoutMs / 1_000} s: choose fewer series` };
      const problem = problemOf(error, 'job id');
      return { kind: 'failed', error: problem.message, ...(problem.status >= 500 && { cause: String(error) }) };
    }
  }
}

function isWhatIf(run: JobRun<JobName>): run is JobRun<'what_if'> {
  return run.task === 'what_if';
}
