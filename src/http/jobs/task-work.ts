import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdDecompress } from 'node:zlib';
import type { Work } from '../calls.ts';
import { problemOf } from '../failures.ts';
import { crossValidationWork } from '../routes/cross-validation.ts';
import { refuseFinetuning } from '../routes/finetuning.ts';
import { forecastWork } from '../routes/forecast.ts';
import { onlineDetectionWork } from '../routes/online-detection.ts';
import type { FinetuneBody } from '../schema/finetune.ts';
import type { CrossValidationBody, ForecastBody } from '../schema/forecast.ts';
import type { OnlineDetectionBody } from '../schema/online-detection.ts';
import type { ServedModels } from '../served-models.ts';
import { bodyRules } from '../wire/body-schemas.ts';
import { BODY_BYTES_MAX } from '../wire/read-bytes.ts';
import { jsonPieces } from '../wire/wire-answer.ts';
import { readWireBody } from '../wire/wire-body.ts';
import type { JobOutcome, TaskName } from './job.ts';

/** A task as it runs: the name of its body in BODY_SCHEMAS, and what makes its answer. */
interface TaskWork {
  readonly body: string;
  /** The work of the same request answered at once. Throws an HttpProblem for what cannot be answered. */
  work(body: unknown, models: ServedModels): Work;
}

function taskOf<B>(body: string, work: (body: B, models: ServedModels) => Work): TaskWork {
  return { body, work: (read, models) => work(read as B, models) };
}

/** Every task there is. A body was checked against its schema when it gets here. */
export const TASK_WORK: Readonly<Record<TaskName, TaskWork>> = {
  anomaly_detection: taskOf<OnlineDetectionBody>('detectionJob', onlineDetectionWork),
  cross_validation: taskOf<CrossValidationBody>('crossValidationJob', crossValidationWork),
  finetune: taskOf<FinetuneBody>('finetuneJob', refuseFinetuning),
  forecast: taskOf<ForecastBody>('forecastJob', forecastWork),
};

/** Numbers in JSON gain little from trying harder. */
const LEVEL = 1;

/**
 * Answers a job's request as the same request would be answered at once. What a client may know of a failure is returned; anything else is thrown.
 * @param request JSON, compressed with zstd
 */
export async function answerTask(
  task: TaskName,
  request: Uint8Array,
  models: ServedModels,
  signal: AbortSignal,
): Promise<Extract<JobOutcome, { readonly kind: 'answered' | 'failed' }>> {
  const { body, work } = TASK_WORK[task];
  try {
    const bytes = await promisify(zstdDecompress)(request, { maxOutputLength: BODY_BYTES_MAX });
    const reading = readWireBody(bytes, bodyRules(body));
    signal.throwIfAborted();
    // Requests are checked before they become jobs; a later release may have become stricter.
    if (reading.kind !== 'body') return { kind: 'failed', error: `The request cannot be read: ${reading.kind}` };
    const { tokens, run } = work(reading.body, models);
    const answer = await run(signal);
    return { kind: 'answered', result: await compressedJson(answer), tokens };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 500) throw error;
    return { kind: 'failed', error: problem.message };
  }
}

/** Piece by piece: the longest answers could not be one text. */
async function compressedJson(answer: object): Promise<Buffer> {
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const chunks: Buffer[] = [];
  await pipeline(Readable.from(jsonPieces(answer)), compressor, async (pieces) => {
    for await (const piece of pieces) chunks.push(piece as Buffer);
  });
  return Buffer.concat(chunks);
}
