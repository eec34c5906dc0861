import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { listDetectorVersions } from '../../../store/detector-versions.ts';
import { labelledReviews } from '../../../store/event-reviews.ts';
import { encodeWhatIf, WHAT_IF_SECONDS_MAX } from '../../jobs/what-if-jobs.ts';
import { modelsOfKey } from '../../models/served-models.ts';
import type { Backtests, ScoringDetector } from '../../operations/backtests.ts';
import { detectorToTry } from '../../operations/detector-what-if.ts';
import { labelledEvents } from '../../operations/labels-raised.ts';
import { type Operations, operationsOf } from '../../operations/operations.ts';
import { proposedRules } from '../../operations/proposed-rules.ts';
import { whatIfTokens } from '../../operations/scoring-price.ts';
import { promisesWork, type WhatIfParts, whatIfWork } from '../../operations/what-if-work.ts';
import { answers, Detail, seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { JobAccepted, jobAnswer } from '../../wire/schema/job-schema.ts';
import {
  DetectorWhatIf,
  PromisesAnswer,
  PromisesRequest,
  RuleProposals,
  WhatIfAnswer,
  WhatIfJobRequest,
  WhatIfRequest,
} from '../../wire/schema/what-if-schema.ts';
import { type AppServices, backtestsOf } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { callerOf, noteAdmitted } from '../exchange/require-key.ts';
import { answerWith } from '../exchange/send-answer.ts';
import { jobNotFound, sendJob } from './job-routes.ts';

/** What other settings of a detector would have raised. */
export function addWhatIfRoute(app: App, services: AppServices): void {
  addSeriesWhatIf(app, services);
  addDetectorWhatIf(app, services);
  addProposals(app, services);
}

/** The detectors file that workers score by. */
async function detectorsText({ detectors }: Operations, { store }: Pick<AppServices, 'store'>): Promise<string> {
  const [newest] = await listDetectorVersions(store);
  return newest?.text ?? detectors.fileText();
}

function addSeriesWhatIf(app: App, services: AppServices): void {
  app.post(
    '/v1/what-if',
    {
      schema: {
        operationId: 'whatIf',
        summary: 'Scores kept values of a series again with other settings, beside what its settings raise',
        body: WhatIfRequest,
        response: { ...seriesAnswers(WhatIfAnswer), 404: Detail },
      },
    },
    async (request, reply) =>
      answerWith({ services, request, reply }, await whatIfWork(...(await partsOf(services, request, request.body)))),
  );
  app.post(
    '/v1/what-if/promises',
    {
      schema: {
        operationId: 'comparePromises',
        summary: 'Scores kept values of a series again: which events there are by which promise of false alarms',
        body: PromisesRequest,
        response: { ...seriesAnswers(PromisesAnswer), 404: Detail },
      },
    },
    async (request, reply) =>
      answerWith({ services, request, reply }, await promisesWork(...(await partsOf(services, request, request.body)))),
  );
}

/** What the work of a request needs that tries settings on a series. */
async function partsOf<Body>(
  services: AppServices,
  request: FastifyRequest,
  body: Body,
): Promise<readonly [Operations, Backtests, WhatIfParts<Body>]> {
  const operations = operationsOf(services.operations);
  const { key } = callerOf(request);
  const models = modelsOfKey(services.models, key);
  const parts = {
    body,
    store: services.store,
    owner: key.owner,
    detectorsText: await detectorsText(operations, services),
    allow: ({ pretrained }: ScoringDetector) => void models.find(pretrained),
  };
  return [operations, backtestsOf(services), parts];
}

function addDetectorWhatIf(app: App, services: AppServices): void {
  const { jobs } = services;
  const { 200: _, ...refusals } = seriesAnswers(Detail);
  app.post(
    '/v1/what-if/jobs',
    {
      schema: {
        operationId: 'submitWhatIfJob',
        summary: 'Submits a job: kept values of all series, or groups, of a detector are scored by two settings',
        body: WhatIfJobRequest,
        response: { 202: JobAccepted, ...refusals, 404: Detail },
      },
    },
    async (request, reply) => {
      const operations = operationsOf(services.operations);
      const { body } = request;
      const caller = callerOf(request);
      const { owner } = caller.key;
      const question = { body, detectorsText: await detectorsText(operations, services) };
      const backtests = backtestsOf(services);
      const { detector } = await detectorToTry({ operations, backtests }, question);
      modelsOfKey(services.models, caller.key).find(detector.pretrained);
      // What is scored is known when it has run: at most this is charged.
      const kept = (await operations.reader.detectors()).find((row) => row.detector === detector.name);
      const id = await jobs.submit({
        task: 'what_if',
        caller,
        tokens: whatIfTokens(kept?.observations ?? 0),
        body: encodeWhatIf({ ...question, owner }),
        timeoutSeconds: WHAT_IF_SECONDS_MAX,
      });
      noteAdmitted(request);
      return reply.code(202).send({ job_id: id });
    },
  );
  app.get(
    '/v1/what-if/jobs/:id',
    {
      schema: {
        operationId: 'getWhatIfJob',
        summary: 'Returns progress and result of a what-if of a detector, until a week after it ended',
        params: Type.Object({ id: Type.String() }),
        response: { ...answers(jobAnswer(DetectorWhatIf)), 404: Detail },
      },
    },
    async (request, reply) => {
      const job = await jobs.find(callerOf(request).key.owner, request.params.id);
      if (job?.task !== 'what_if') throw jobNotFound();
      return sendJob(reply, job);
    },
  );
}

function addProposals(app: App, services: AppServices): void {
  app.get(
    '/v1/detectors/proposals',
    {
      schema: {
        operationId: 'listRuleProposals',
        summary: 'Lists rules for what people said is not real, to be tried by POST /v1/what-if/jobs',
        response: { ...answers(RuleProposals), 404: Detail },
      },
    },
    async () => {
      const operations = operationsOf(services.operations);
      const described = await operations.detectors.describe(await detectorsText(operations, services));
      if (described.kind === 'problems') return { proposals: [] };
      // Only what is kept can be scored again.
      const { oldestMs } = await operations.reader.state();
      const range = { fromMs: oldestMs ?? 0, toMs: Number.MAX_SAFE_INTEGER };
      const labelled = labelledEvents(await labelledReviews(services.store, range));
      return { proposals: proposedRules(labelled, described.detectors) };
    },
  );
}
