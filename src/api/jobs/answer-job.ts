import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdDecompress } from 'node:zlib';
import type { ServedModels } from '../models/served-models.ts';
import { type NewlyTuned, withWeights } from '../models/tuned-models.ts';
import { TASK_WORK } from '../tasks/task-work.ts';
import { bodyRules } from '../wire/body/body-schemas.ts';
import { BODY_BYTES_MAX } from '../wire/body/read-bytes.ts';
import { readWireBody } from '../wire/body/wire-body.ts';
import { problemOf } from '../wire/problem.ts';
import { jsonPieces } from '../wire/wire-answer.ts';
import type { JobOutcome, JobRun } from './job.ts';

/** Placeholder in the answer of a fine-tuning until its model is stored. */
const OUTPUT_MODEL_ID = '';

/** Higher levels gain little on numbers in JSON. */
const LEVEL = 1;

/**
 * Answers the request of a job as the synchronous endpoint would. Failures that clients may see are returned; others
 * are thrown. A fine-tuned model is returned to the caller, which stores it and sets its id.
 */
export async function answerTask(
  { task, request, named = null, signal }: Pick<JobRun, 'task' | 'request' | 'named' | 'signal'>,
  models: ServedModels,
): Promise<Extract<JobOutcome, { readonly kind: 'answered' | 'failed' }>> {
  const { body, work } = TASK_WORK[task];
  try {
    const bytes = await promisify(zstdDecompress)(request, { maxOutputLength: BODY_BYTES_MAX });
    const reading = readWireBody(bytes, bodyRules(body));
    signal.throwIfAborted();
    // Requests are validated before submission, but a later release may be stricter.
    if (reading.kind !== 'body') return { kind: 'failed', error: `The request cannot be read: ${reading.kind}` };
    const known = named === null ? models : withWeights(models, named.model, named.weights);
    let made: NewlyTuned | null = null;
    const { tokens, run } = work(reading.body, known, async (tuned) => {
      made = tuned;
      return OUTPUT_MODEL_ID;
    });
    const answer = await run(signal);
    return { kind: 'answered', result: await compressedJson(answer), tokens, made };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 500) throw error;
    return { kind: 'failed', error: problem.message };
  }
}

/** Streamed, as the longest answers exceed the length of a string. */
export async function compressedJson(answer: object): Promise<Buffer> {
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const chunks: Buffer[] = [];
  await pipeline(Readable.from(jsonPieces(answer)), compressor, async (pieces) => {
    for await (const piece of pieces) chunks.push(piece as Buffer);
  });
  return Buffer.concat(chunks);
}
