import Type, { type TSchema } from 'typebox';
import { JOB_STATUSES } from '../../../store/jobs.ts';
import { fieldProblem, invalidRequest } from '../problem.ts';
import { TASK_NAMES } from '../task-names.ts';
import { FinetuneRequest } from './finetune-schema.ts';
import { CrossValidationRequest, ForecastRequest } from './forecast-schema.ts';
import { OnlineDetectionRequest } from './online-detection-schema.ts';
import { SeriesWithFuture } from './series-schema.ts';

/** Maximum and default time limit of a job. */
export const JOB_SECONDS_MAX = 300;

interface JobOptions {
  readonly timeout_seconds?: number | null;
}

/** The only closed object of a request: unknown options are refused. */
const Options = {
  job_options: Type.Optional(
    Type.Unsafe<JobOptions | null>({
      type: ['object', 'null'],
      properties: {
        timeout_seconds: {
          type: ['integer', 'null'],
          exclusiveMinimum: 0,
          maximum: JOB_SECONDS_MAX,
          description: `Time limit of the run in seconds, without the time in the queue. Default: ${JOB_SECONDS_MAX}.`,
        },
      },
      additionalProperties: false,
    }),
  ),
};

export const DetectionJob = Type.Object({ ...OnlineDetectionRequest.properties, series: SeriesWithFuture, ...Options });
export const ForecastJob = Type.Object({ ...ForecastRequest.properties, ...Options });
export const CrossValidationJob = Type.Object({ ...CrossValidationRequest.properties, ...Options });
export const FinetuneJob = Type.Object({ ...FinetuneRequest.properties, ...Options });

/** Fields of every job request. */
export interface JobBody {
  readonly job_options?: JobOptions | null;
}

export const JobAccepted = Type.Object({ job_id: Type.String() });
export const JobCancelled = Type.Object({ job_id: Type.String(), status: Type.Literal('cancelled') });

const Status = Type.Enum([...JOB_STATUSES]);

/** @param result the answer of the task */
export function jobAnswer<T extends TSchema>(result: T) {
  return Type.Object({
    job_id: Type.String(),
    status: Status,
    result: Type.Union([result, Type.Null()], { description: 'The answer of the task, once the job has succeeded.' }),
    error: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The reason, once the job has failed.',
    }),
    progress: Type.Union([Type.Object({ step: Type.Integer(), steps: Type.Integer() }), Type.Null()], {
      description: 'Completed and total steps of the current fine-tuning, updated every few seconds; null otherwise.',
    }),
  });
}

/** Must be a power of ten. */
const PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE = 100;

export const JobsQuery = Type.Object({
  page_size: Type.Optional(
    Type.String({
      pattern: `^([1-9]\\d{0,${String(PAGE_SIZE_MAX).length - 2}}|${PAGE_SIZE_MAX})$`,
      description: `Jobs per page, at most ${PAGE_SIZE_MAX}. Default: ${PAGE_SIZE}.`,
    }),
  ),
  page_token: Type.Optional(Type.String({ maxLength: 64, description: '`next_page_token` of the previous page.' })),
});

/** The requested page: jobs before a number, and how many. Throws an HttpProblem for an invalid token. */
export function pageOf({ page_size: size, page_token: token }: Type.Static<typeof JobsQuery>) {
  return {
    before: token === undefined ? Number.MAX_SAFE_INTEGER : numberOf(token),
    size: size === undefined ? PAGE_SIZE : Number(size),
  };
}

/** Opaque to clients. */
export function pageToken(before: number): string {
  return Buffer.from(`before ${before}`).toString('base64url');
}

function numberOf(token: string): number {
  const before = /^before (\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (before !== undefined && pageToken(Number(before)) === token) return Number(before);
  throw invalidRequest([fieldProblem(['query', 'page_token'], 'page_token must be a next_page_token of this list')]);
}

export const Jobs = Type.Object({
  jobs: Type.Array(
    Type.Object({
      job_id: Type.String(),
      task_name: Type.Enum([...TASK_NAMES]),
      status: Status,
      created_at: Type.String({ format: 'date-time' }),
    }),
    { description: 'Newest first.' },
  ),
  next_page_token: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'null on the last page.' }),
});

const OpenJobs = Type.Object({ pending: Type.Integer(), running: Type.Integer() });
export const OpenJobsByTask = Type.Record(Type.Enum([...TASK_NAMES]), OpenJobs);
