import Type, { type TSchema } from 'typebox';
import type { TaskName } from '../../task-names.ts';
import { type AcceptedParts, described } from '../answer-schemas.ts';
import { NullableText, nullable } from '../query-fields.ts';
import { ExplainAnswer, ExplainRequest } from './explain-schema.ts';
import { FinetuneAnswer, FinetuneRequest } from './finetune-schema.ts';
import { CrossValidationAnswer, CrossValidationRequest, ForecastAnswer, ForecastRequest } from './forecast-schema.ts';
import { JobStatusField } from './job-list-schema.ts';
import { OnlineDetectionAnswer, OnlineDetectionRequest } from './online-detection-schema.ts';
import { SimulateAnswer, SimulateRequest } from './simulate-schema.ts';

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

export const DetectionJob = Type.Object({ ...OnlineDetectionRequest.properties, ...Options });
export const ForecastJob = Type.Object({ ...ForecastRequest.properties, ...Options });
export const CrossValidationJob = Type.Object({ ...CrossValidationRequest.properties, ...Options });
export const FinetuneJob = Type.Object({ ...FinetuneRequest.properties, ...Options });
export const ExplainJob = Type.Object({ ...ExplainRequest.properties, ...Options });
export const SimulateJob = Type.Object({ ...SimulateRequest.properties, ...Options });

export interface JobTask {
  readonly name: TaskName;
  readonly request: TSchema;
  readonly answer: TSchema;
}

export const JOB_TASKS: readonly JobTask[] = [
  { name: 'anomaly_detection', request: DetectionJob, answer: OnlineDetectionAnswer },
  { name: 'forecast', request: ForecastJob, answer: ForecastAnswer },
  { name: 'cross_validation', request: CrossValidationJob, answer: CrossValidationAnswer },
  { name: 'finetune', request: FinetuneJob, answer: FinetuneAnswer },
  { name: 'explain', request: ExplainJob, answer: ExplainAnswer },
  { name: 'simulate', request: SimulateJob, answer: SimulateAnswer },
];

/** Fields of every job request. */
export interface JobBody {
  readonly job_options?: JobOptions | null;
}

export const JobAccepted = Type.Object({ job_id: Type.String() });

export function describedJob<S extends AcceptedParts>(routeParts: S) {
  const { schema } = described(JobAccepted, routeParts, 404);
  const { 200: accepted, ...refusals } = schema.response;
  return { schema: { ...schema, response: { 202: accepted, ...refusals } } };
}

export const JobCancelled = Type.Object({ job_id: Type.String(), status: Type.Literal('cancelled') });

/** @param result the answer of the task */
export function jobAnswer<T extends TSchema>(result: T) {
  return Type.Object({
    job_id: Type.String(),
    status: JobStatusField,
    result: nullable(result, 'The answer of the task, once the job has succeeded.'),
    error: NullableText('The reason, once the job has failed, or once its result is no longer kept.'),
    progress: nullable(
      Type.Object({ step: Type.Integer(), steps: Type.Integer() }),
      'Completed and total steps of the current fine-tuning, or series of a what-if, every few seconds; or null.',
    ),
  });
}
