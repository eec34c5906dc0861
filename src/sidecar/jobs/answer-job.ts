import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdDecompress } from 'node:zlib';
import type { ServedModels } from '../models/served-models.ts';
import { type NewlyTuned, withWeights } from '../models/tuned-models.ts';
import { TASK_WORK } from '../tasks/task-work.ts';
import { bodyRules } from '../wire/body-schemas.ts';
import { problemOf } from '../wire/problem.ts';
import { BODY_BYTES_MAX } from '../wire/read-bytes.ts';
import { jsonPieces } from '../wire/wire-answer.ts';
import { readWireBody } from '../wire/wire-body.ts';
import type { JobOutcome, JobRun } from './job.ts';

/** Stands in the answer of a fine-tuning until its model is kept. */
const OUTPUT_MODEL_ID = '';

/** Numbers in JSON gain little from trying harder. */
const LEVEL = 1;

/**
 * Answers a job's request as the same request would be answered at once. What a client may know of a failure is returned; anything else is thrown.
 * A model that was tuned is given back: whoever has the store keeps it, and says its id.
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
    // Requests are checked before they become jobs; a later release may have become stricter.
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

/** Piece by piece: the longest answers could not be one text. */
export async function compressedJson(answer: object): Promise<Buffer> {
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const chunks: Buffer[] = [];
  await pipeline(Readable.from(jsonPieces(answer)), compressor, async (pieces) => {
    for await (const piece of pieces) chunks.push(piece as Buffer);
  });
  return Buffer.concat(chunks);
}
