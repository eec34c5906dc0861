import type { FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import type { App, AppServices } from '../app.ts';
import { audit } from '../audit.ts';
import { callerOf } from '../caller.ts';
import type { Work } from '../calls.ts';
import { modelsOf } from '../finetuned.ts';
import { type Job, TASK_NAMES, type TaskName } from '../jobs/job.ts';
import { HttpProblem } from '../problem.ts';
import { answers, Detail, InvalidRequest, KEY_NEEDED, seriesAnswers, TooManyRequests } from '../schema/answers.ts';
import { FinetuneAnswer, type FinetuneBody } from '../schema/finetune.ts';
import {
  CrossValidationAnswer,
  type CrossValidationBody,
  ForecastAnswer,
  type ForecastBody,
} from '../schema/forecast.ts';
import {
  CrossValidationJob,
  DetectionJob,
  FinetuneJob,
  ForecastJob,
  JOB_SECONDS_MAX,
  JobAccepted,
  type JobBody,
  JobCancelled,
  Jobs,
  JobsQuery,
  jobAnswer,
  OpenJobsByTask,
  pageOf,
} from '../schema/jobs.ts';
import { OnlineDetectionAnswer, type OnlineDetectionBody } from '../schema/online-detection.ts';
import { numbersIn, sendAnswer } from '../wire/wire-answer.ts';
import { crossValidationWork } from './cross-validation.ts';
import { finetuneWork } from './finetuning.ts';
import { forecastWork } from './forecast.ts';
import { onlineDetectionWork } from './online-detection.ts';

/** A task as a job: the body of the same request answered at once, and what makes its answer. */
interface JobTask<B> {
  readonly name: TaskName;
  readonly request: TSchema;
  readonly answer: TSchema;
  /** Throws an HttpProblem for what cannot be answered: a job that is accepted is right. */
  work(body: B, services: AppServices, request: FastifyRequest): Promise<Work>;
}

const DETECTION: JobTask<OnlineDetectionBody> = {
  name: 'anomaly_detection',
  request: DetectionJob,
  answer: OnlineDetectionAnswer,
  work: async (body, services, request) => onlineDetectionWork(body, await modelsOf(services, request)),
};
const FORECAST: JobTask<ForecastBody> = {
  name: 'forecast',
  request: ForecastJob,
  answer: ForecastAnswer,
  work: async (body, services, request) => forecastWork(body, await modelsOf(services, request)),
};
const CROSS_VALIDATION: JobTask<CrossValidationBody> = {
  name: 'cross_validation',
  request: CrossValidationJob,
  answer: CrossValidationAnswer,
  work: async (body, services, request) => crossValidationWork(body, await modelsOf(services, request)),
};
const FINETUNE: JobTask<FinetuneBody> = {
  name: 'finetune',
  request: FinetuneJob,
  answer: FinetuneAnswer,
  work: finetuneWork,
};

const JobId = Type.Object({ id: Type.String() });
const { 200: _, ...REFUSALS } = seriesAnswers(Detail);
const notFound = () => new HttpProblem(404, 'Job not found');

/** What is asked for now and fetched later. */
export function addJobRoutes(app: App, services: AppServices): void {
  addTask(app, services, DETECTION);
  addTask(app, services, FORECAST);
  addTask(app, services, CROSS_VALIDATION);
  addTask(app, services, FINETUNE);
  addOverview(app, services);
}

function addTask<B>(app: App, services: AppServices, { name, request, answer, work }: JobTask<B>): void {
  const { jobs, calls, store, logger, nowMs } = services;
  app.post(
    `/v2/${name}/async`,
    {
      schema: {
        summary: `Submits a job: ${name}`,
        security: KEY_NEEDED,
        body: request,
        response: { 202: JobAccepted, ...REFUSALS, 429: TooManyRequests },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { job_options: options } = body as JobBody;
      const secondsMax = options?.timeout_seconds ?? JOB_SECONDS_MAX;
      const { tokens, run } = await work(body as B, services, request);
      const call = await calls.begin(callerOf(request), tokens, request.id);
      try {
        const id = jobs.submit({ task: name, run, call, numbers: numbersIn(body), secondsMax });
        await audit(store, logger, request, { happenedAtMs: nowMs(), action: 'job-submitted', subject: id });
        return reply.code(202).send({ job_id: id });
      } catch (error) {
        await call.release();
        throw error;
      }
    },
  );
  app.get(
    `/v2/${name}/jobs/:id`,
    {
      schema: {
        summary:
          'Status of such a job, and its result; an hour after it ended it is forgotten, or earlier when many end',
        security: KEY_NEEDED,
        params: JobId,
        response: { ...answers(jobAnswer(answer)), 404: Detail },
      },
    },
    async ({ params }, reply) => {
      const job = jobs.store.find(params.id);
      if (job === null || job.task !== name) throw notFound();
      const { id, status, result, error } = job;
      return sendAnswer(reply, { job_id: id, status, result, error });
    },
  );
}

function addOverview(app: App, { jobs, store, logger, nowMs }: AppServices): void {
  app.get(
    '/v2/async/jobs',
    {
      schema: {
        summary: 'The jobs of every task',
        security: KEY_NEEDED,
        querystring: JobsQuery,
        response: { ...answers(Jobs), 422: InvalidRequest },
      },
    },
    async ({ query }) => {
      const { before, size } = pageOf(query);
      const page = jobs.store.page(before, size);
      return { jobs: page.jobs.map(listed), next_page_token: page.next === null ? null : String(page.next) };
    },
  );
  app.get(
    '/v2/async/jobs/status',
    {
      schema: {
        summary: 'Jobs of each task that have not ended',
        security: KEY_NEEDED,
        response: answers(OpenJobsByTask),
      },
    },
    async () => openByTask(jobs.store),
  );
  app.post(
    '/v2/async/jobs/:id/cancel',
    {
      schema: {
        summary: 'Cancels a job that has not ended',
        security: KEY_NEEDED,
        params: JobId,
        response: { ...answers(JobCancelled), 404: Detail },
      },
    },
    async (request) => {
      const { id } = request.params;
      if (!jobs.cancel(id)) throw notFound();
      await audit(store, logger, request, { happenedAtMs: nowMs(), action: 'job-cancelled', subject: id });
      return { job_id: id, status: 'cancelled' as const };
    },
  );
}

function listed({ id, task, status, createdMs }: Job) {
  return { job_id: id, task_name: task, status, created_at: new Date(createdMs).toISOString() };
}

function openByTask(store: AppServices['jobs']['store']) {
  return Object.fromEntries(TASK_NAMES.map((task) => [task, store.open(task)])) as Record<
    TaskName,
    ReturnType<typeof store.open>
  >;
}
