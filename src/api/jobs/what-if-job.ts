import { type DetectorQuestion, type DetectorWhatIfParts, tryOnDetector } from '../operations/detector-what-if.ts';
import { problemOf } from '../wire/problem.ts';
import type { JobName } from '../wire/task-names.ts';
import { compressedJson } from './answer-job.ts';
import type { JobOutcome, JobRun } from './job.ts';

/** The request of a what-if: whose series are tried. */
export interface WhatIfRequestOfJob extends DetectorQuestion {
  readonly owner: string;
}

/** A what-if of one detector: no longer, as it has a place of other jobs meanwhile. */
export const WHAT_IF_SECONDS_MAX = 900;

export async function runWhatIf(
  { request, timeoutMs, signal: stop, onProgress = () => {} }: JobRun<JobName>,
  parts: DetectorWhatIfParts | null,
): Promise<JobOutcome> {
  if (parts === null) return { kind: 'failed', error: 'This service keeps no history' };
  const { owner, ...question }: WhatIfRequestOfJob = JSON.parse(Buffer.from(request).toString());
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const turn = { owner, signal: AbortSignal.any([stop, late]), onProgress };
    const { tokens, answer } = await tryOnDetector(parts, question, turn);
    return { kind: 'answered', result: await compressedJson(answer), tokens };
  } catch (error) {
    if (stop.aborted) return { kind: 'stopped' };
    if (late.aborted) return { kind: 'failed', error: `longer than ${timeoutMs / 1_000} s: choose fewer series` };
    const problem = problemOf(error, 'job id');
    return { kind: 'failed', error: problem.message, ...(problem.status >= 500 && { cause: String(error) }) };
  }
}
