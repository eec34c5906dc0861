import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createZstdDecompress, zstdDecompress } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { JOB_STATUSES, type JobStatus } from '../../../../store/jobs/job-status.ts';
import type { InFlightCount, JobRecord } from '../../../../store/jobs/jobs.ts';
import type { Caller } from '../../../accounts/caller.ts';
import { encodeEnvelope } from '../../../jobs/envelope.ts';
import type { JobQueue } from '../../../jobs/job-queue.ts';
import type { JobModels } from '../../../jobs/job-table.ts';
import { checkModelQuota } from '../../../models/tuned-models.ts';
import { TASK_WORK } from '../../../tasks/task-work.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import { pageOf, pageToken } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import type { FinetuneBody } from '../../../wire/schema/tasks/finetune-schema.ts';
import { Jobs, JobsQuery, OpenJobsByTask } from '../../../wire/schema/tasks/job-list-schema.ts';
import {
  describedJob,
  JOB_SECONDS_MAX,
  JOB_TASKS,
  type JobBody,
  JobCancelled,
  type JobTask,
  jobAnswer,
} from '../../../wire/schema/tasks/job-schema.ts';
import { JOB_NAMES, type JobName, type TaskName } from '../../../wire/task-names.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { idempotencyHeaders, idempotencyOf } from '../../exchange/idempotency.ts';
import { keptBody } from '../../exchange/request-bodies.ts';
import { requestModels } from '../../exchange/request-models.ts';
import { callerOf, noteAdmitted } from '../../exchange/require-key.ts';
import { warn } from '../../exchange/send-answer.ts';

const JobHeaders = idempotencyHeaders('the id of the first job, while that is kept');

const jobNotFound = () => new HttpProblem(404, 'Job not found');

export function addJobRoutes(app: App, services: AppServices): void {
  for (const task of JOB_TASKS) addTask(app, services, task);
  addOverview(app, services);
}

function addTask(app: App, services: AppServices, { name, request, answer }: JobTask): void {
  const { jobs } = services;
  app.post(`/v2/${name}/async`, describedJob({ body: request, headers: JobHeaders }), async (request, reply) => {
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
  });
  const schema = described(jobAnswer(answer), { params: ById }, 404);
  app.get(`/v2/${name}/jobs/:id`, schema, async (request, reply) => sendJob(jobs, { request, reply }, name));
}

/** The id is generated once, so that every attempt of the job uses the same. */
function modelsOfJob(task: TaskName, body: FinetuneBody, { key, requestId }: Caller): JobModels {
  const output = task === 'finetune' ? (body.output_model_id ?? randomUUID()) : null;
  return { owner: key.owner, keyId: key.id, requestId, named: body.finetuned_model_id || null, output };
}

/** Those that are listed by default. */
const OPEN_STATUSES: readonly JobStatus[] = ['pending', 'running'];

function addOverview(app: App, { jobs }: AppServices): void {
  app.get('/v2/async/jobs', described(Jobs, { querystring: JobsQuery }), async (request) => {
    const { status = [] } = request.query;
    const statuses = status.length === 0 ? OPEN_STATUSES : JOB_STATUSES.filter((one) => status.includes(one));
    const filter = ` of ${statuses}`;
    const page = await jobs.page(callerOf(request).key.owner, { statuses, ...pageOf(request.query, filter) });
    const token = page.next === null ? null : pageToken(page.next, filter);
    return { jobs: page.jobs.map(listed), next_page_token: token };
  });
  app.get('/v2/async/jobs/status', described(OpenJobsByTask), async (request) =>
    byTask(await jobs.inFlight(callerOf(request).key.owner)),
  );
  app.post('/v2/async/jobs/:id/cancel', described(JobCancelled, { params: ById }, 403, 404), async (request) => {
    const { id } = request.params;
    if (!(await jobs.cancel(callerOf(request), id))) throw jobNotFound();
    return { job_id: id, status: 'cancelled' as const };
  });
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

interface JobExchange {
  readonly request: FastifyRequest<{ Params: Static<typeof ById> }>;
  readonly reply: FastifyReply;
}

/** Larger results (compressed size) are streamed. */
const WHOLE_BYTES_MAX = 64 * 1024;

/** Sends the job of a path. Its result is stored as the JSON that is sent. A handler returns what this returns. */
export async function sendJob(jobs: JobQueue, { request, reply }: JobExchange, task: JobName): Promise<FastifyReply> {
  const job = await jobs.find(callerOf(request).key.owner, request.params.id);
  if (job?.task !== task) throw jobNotFound();
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
