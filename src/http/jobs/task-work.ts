import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdDecompress } from 'node:zlib';
import { problemOf } from '../failures.ts';
import { crossValidationWork } from '../routes/cross-validation.ts';
import { refuseFinetuning } from '../routes/finetuning.ts';
import { forecastWork } from '../routes/forecast.ts';
import { onlineDetectionWork } from '../routes/online-detection.ts';
import type { FinetuneBody } from '../schema/finetune.ts';
import type { CrossValidationBody, ForecastBody } from '../schema/forecast.ts';
import type { OnlineDetectionBody } from '../schema/online-detection.ts';
import type { ServedModels } from '../served-models.ts';
import type { Tokens } from '../tokens.ts';
import { bodyRules } from '../wire/body-schemas.ts';
import { BODY_BYTES_MAX } from '../wire/read-bytes.ts';
import { jsonPieces } from '../wire/wire-answer.ts';
import { readWireBody } from '../wire/wire-body.ts';
import type { JobOutcome, TaskName, Work, WorkServices } from './job.ts';

/** A task as it runs: the name of its body in BODY_SCHEMAS, and what makes its answer. */
interface TaskWork {
  readonly body: string;
  /** The work of the same request answered at once. Throws an HttpProblem for what cannot be answered. */
  work(body: unknown, services: WorkServices): Work;
}

function taskOf<B>(body: string, work: (body: B, services: WorkServices) => Work): TaskWork {
  return { body, work: (read, services) => work(read as B, services) };
}

/** Every task there is. A body was checked against its schema when it gets here. */
export const TASK_WORK: Readonly<Record<TaskName, TaskWork>> = {
  anomaly_detection: taskOf<OnlineDetectionBody>('detectionJob', onlineDetectionWork),
  cross_validation: taskOf<CrossValidationBody>('crossValidationJob', crossValidationWork),
  finetune: taskOf<FinetuneBody>('finetuneJob', refuseFinetuning),
  forecast: taskOf<ForecastBody>('forecastJob', forecastWork),
};

const NO_TOKENS: Tokens = { input_tokens: 0, output_tokens: 0, finetune_tokens: 0 };
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
  let tokens = NO_TOKENS;
  const usage = {
    count(counted: Tokens) {
      tokens = counted;
    },
  };
  try {
    const bytes = await promisify(zstdDecompress)(request, { maxOutputLength: BODY_BYTES_MAX });
    const reading = readWireBody(bytes, bodyRules(body));
    signal.throwIfAborted();
    // Requests are checked before they become jobs; a later release may have become stricter.
    if (reading.kind !== 'body') return { kind: 'failed', error: `The request cannot be read: ${reading.kind}` };
    const answer = await work(reading.body, { models, usage })(signal);
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
