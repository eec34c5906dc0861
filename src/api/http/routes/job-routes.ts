import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createZstdDecompress, zstdDecompress } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { JOB_STATUSES, type JobStatus } from '../../../store/job-status.ts';
import type { AnsweredJob, InFlightCount, JobRecord } from '../../../store/jobs.ts';
import type { Caller } from '../../accounts/caller.ts';
import { encodeEnvelope } from '../../jobs/envelope.ts';
import type { JobModels } from '../../jobs/job-table.ts';
import { checkModelQuota } from '../../models/prepared-model.ts';
import { TASK_WORK } from '../../tasks/task-work.ts';
import { HttpProblem } from '../../wire/problem.ts';
import { pageOf, pageToken } from '../../wire/query-values.ts';
import { answers, Detail, InvalidRequest, seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { ExplainAnswer } from '../../wire/schema/explain-schema.ts';
import { FinetuneAnswer, type FinetuneBody } from '../../wire/schema/finetune-schema.ts';
import { CrossValidationAnswer, ForecastAnswer } from '../../wire/schema/forecast-schema.ts';
import { Jobs, JobsQuery, OpenJobsByTask } from '../../wire/schema/job-list-schema.ts';
import {
  CrossValidationJob,
  DetectionJob,
  ExplainJob,
  FinetuneJob,
  ForecastJob,
  JOB_SECONDS_MAX,
  JobAccepted,
  type JobBody,
  JobCancelled,
  jobAnswer,
  SimulateJob,
} from '../../wire/schema/job-schema.ts';
import { OnlineDetectionAnswer } from '../../wire/schema/online-detection-schema.ts';
import { SimulateAnswer } from '../../wire/schema/simulate-schema.ts';
import { JOB_NAMES, type JobName, type TaskName } from '../../wire/task-names.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { idempotencyHeaders, idempotencyOf } from '../exchange/idempotency.ts';
import { keptBody } from '../exchange/request-bodies.ts';
import { requestModels } from '../exchange/request-models.ts';
import { callerOf, noteAdmitted } from '../exchange/require-key.ts';
import { warn } from '../exchange/send-answer.ts';

/** A task with its request and answer schemas. */
interface JobTask {
  readonly name: TaskName;
  readonly request: TSchema;
  readonly answer: TSchema;
}

const JOB_TASKS: readonly JobTask[] = [
  { name: 'anomaly_detection', request: DetectionJob, answer: OnlineDetectionAnswer },
  { name: 'forecast', request: ForecastJob, answer: ForecastAnswer },
  { name: 'cross_validation', request: CrossValidationJob, answer: CrossValidationAnswer },
  { name: 'finetune', request: FinetuneJob, answer: FinetuneAnswer },
  { name: 'explain', request: ExplainJob, answer: ExplainAnswer },
  { name: 'simulate', request: SimulateJob, answer: SimulateAnswer },
];

const JobHeaders = idempotencyHeaders('the id of the first job, while that is kept');

const JobId = Type.Object({ id: Type.String() });
const { 200: _, ...REFUSALS } = seriesAnswers(Detail);
export const jobNotFound = () => new HttpProblem(404, 'Job not found');

/** Asynchronous endpoints. */
export function addJobRoutes(app: App, services: AppServices): void {
  for (const task of JOB_TASKS) addTask(app, services, task);
  addOverview(app, services);
}

function addTask(app: App, services: AppServices, { name, request, answer }: JobTask): void {
  const { jobs } = services;
  const operation = name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
  app.post(
    `/v2/${name}/async`,
    {
      schema: {
        operationId: `submit${operation}Job`,
        summary: `Submits a job: ${name}`,
        body: request,
        headers: JobHeaders,
        response: { 202: JobAccepted, ...REFUSALS },
      },
    },
    async (request, reply) => {
      const { job_options: options } = request.body as JobBody;
      const timeoutSeconds = options?.timeout_seconds ?? JOB_SECONDS_MAX;
      const caller = callerOf(request);
      const idempotency = idempotencyOf(request);
      const known = await jobs.submitted(caller, idempotency);
      if (known !== null) {
        noteAdmitted(request);
        return reply.code(202).send({ job_id: known });
      }
      // Validates the request, so that an accepted job is valid.
      const models = await requestModels(services, request);
      const work = TASK_WORK[name].work(request.body, models, async () => '');
      warn(reply, work);
      const header = modelsOfJob(name, request.body as FinetuneBody, caller);
      if (header.output !== null) await checkModelQuota(services, header.owner, header.output);
      const body = encodeEnvelope<JobModels>({ header, bytes: keptBody(request) });
      const job = { task: name, caller, tokens: work.tokens, body, timeoutSeconds, idempotency };
      const id = await jobs.submit(job);
      noteAdmitted(request);
      return reply.code(202).send({ job_id: id });
    },
  );
  app.get(
    `/v2/${name}/jobs/:id`,
    {
      schema: {
        operationId: `get${operation}Job`,
        summary: 'Returns status and result of a job, until a week after it ended',
        params: JobId,
        response: { ...answers(jobAnswer(answer)), 404: Detail },
      },
    },
    async (request, reply) => {
      const job = await jobs.find(callerOf(request).key.owner, request.params.id);
      if (job === null || job.task !== name) throw jobNotFound();
      return sendJob(reply, job);
    },
  );
}

/** The id is generated once, so that every attempt of the job uses the same. */
function modelsOfJob(task: TaskName, body: FinetuneBody, { key, requestId }: Caller): JobModels {
  const output = task === 'finetune' ? (body.output_model_id ?? randomUUID()) : null;
  return { owner: key.owner, keyId: key.id, requestId, named: body.finetuned_model_id || null, output };
}

/** Those that are listed by default. */
const OPEN_STATUSES: readonly JobStatus[] = ['pending', 'running'];

function addOverview(app: App, { jobs }: AppServices): void {
  app.get(
    '/v2/async/jobs',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'Lists the jobs of all tasks by status, newest first',
        querystring: JobsQuery,
        response: { ...answers(Jobs), 422: InvalidRequest },
      },
    },
    async (request) => {
      const { status = [] } = request.query;
      const statuses = status.length === 0 ? OPEN_STATUSES : JOB_STATUSES.filter((one) => status.includes(one));
      const filter = ` of ${statuses}`;
      const page = await jobs.page(callerOf(request).key.owner, { statuses, ...pageOf(request.query, filter) });
      const token = page.next === null ? null : pageToken(page.next, filter);
      return { jobs: page.jobs.map(listed), next_page_token: token };
    },
  );
  app.get(
    '/v2/async/jobs/status',
    {
      schema: {
        operationId: 'countOpenJobs',
        summary: 'Counts pending and running jobs by task',
        response: { ...answers(OpenJobsByTask) },
      },
    },
    async (request) => byTask(await jobs.inFlight(callerOf(request).key.owner)),
  );
  app.post(
    '/v2/async/jobs/:id/cancel',
    {
      schema: {
        operationId: 'cancelJob',
        summary: 'Cancels a pending or running job',
        params: JobId,
        response: { ...answers(JobCancelled), 403: Detail, 404: Detail },
      },
    },
    async (request) => {
      const { id } = request.params;
      if (!(await jobs.cancel(callerOf(request), id))) throw jobNotFound();
      return { job_id: id, status: 'cancelled' as const };
    },
  );
}

function listed({ id, task, status, createdAtMs }: JobRecord) {
  return { job_id: id, task_name: task as JobName, status, created_at: new Date(createdAtMs).toISOString() };
}

function byTask(counts: readonly InFlightCount[]) {
  const jobsOf = (task: JobName, status: InFlightCount['status']) =>
    counts.find((count) => count.task === task && count.status === status)?.jobs ?? 0;
  const entries = JOB_NAMES.map((task) => {
    return [task, { pending: jobsOf(task, 'pending'), running: jobsOf(task, 'running') }] as const;
  });
  return Object.fromEntries(entries) as Record<JobName, { readonly pending: number; readonly running: number }>;
}

/** Larger results (compressed size) are streamed. */
const WHOLE_BYTES_MAX = 64 * 1024;

/** Sends a job. Its result is stored as the JSON that is sent. A handler returns what this returns. */
export async function sendJob(reply: FastifyReply, job: AnsweredJob): Promise<FastifyReply> {
  const { id, status, error, result, progress } = job;
  reply.type('application/json; charset=utf-8');
  const start = `{"job_id":${JSON.stringify(id)},"status":${JSON.stringify(status)},"result":`;
  const end = `,"error":${JSON.stringify(error)},"progress":${JSON.stringify(progress)}}`;
  if (result === null) return reply.send(`${start}null${end}`);
  if (result.length <= WHOLE_BYTES_MAX) {
    return reply.send(`${start}${await promisify(zstdDecompress)(result)}${end}`);
  }
  return reply.send(Readable.from(pieces(start, result, end)));
}

async function* pieces(start: string, result: Uint8Array, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* Readable.from([result]).pipe(createZstdDecompress());
  yield Buffer.from(end);
}
