import type { FastifyReply } from 'fastify';
import { listDetectorVersions } from '../../../../store/detector-versions.ts';
import { WHAT_IF_SECONDS_MAX, type WhatIfRequestOfJob } from '../../../jobs/what-if-job.ts';
import { DEFAULT_MODEL, modelsOfKey } from '../../../models/served-models.ts';
import { detectorToTry } from '../../../operations/detector-what-if.ts';
import { type Operations, operationsOf } from '../../../operations/operations.ts';
import { backtestTokens, observationsAtMost, whatIfTokens } from '../../../operations/scoring-price.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { BacktestAnswer, BacktestRequest } from '../../../wire/schema/operations/backtest-schema.ts';
import { DetectorWhatIf, WhatIfJobRequest } from '../../../wire/schema/operations/what-if-schema.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import { describedJob, jobAnswer } from '../../../wire/schema/tasks/job-schema.ts';
import { type App, type AppServices, backtestsOf } from '../../exchange/app-services.ts';
import { callerOf, noteAdmitted } from '../../exchange/require-key.ts';
import { chargedAnswer } from '../../exchange/send-answer.ts';
import { sendJob } from './job-routes.ts';

/** A file of the caller's own. Its lines are held, its observations are charged, and problems cost nothing. */
export function addBacktestRoute(app: App, services: AppServices): void {
  app.post('/v1/backtest', described(BacktestAnswer, { body: BacktestRequest }, 404), async (request, reply) => {
    const backtests = backtestsOf(services);
    const { key } = callerOf(request);
    // Throws where the key may not use it.
    modelsOfKey(services.models, key).find(DEFAULT_MODEL);
    const { name, csv, ...settings } = request.body;
    const outcome = await chargedAnswer(
      { services, request, reply },
      {
        tokens: backtestTokens(observationsAtMost(csv)),
        run: (signal) => backtests.backtest({ name, csv, settings }, { owner: key.owner, signal }),
        due: (answered) => (answered.kind === 'problems' ? null : backtestTokens(answered.observations)),
      },
    );
    reply.header('content-type', 'application/json; charset=utf-8');
    // Passed on as the sandbox wrote it: it may be long.
    return (reply as FastifyReply).send(outcome.kind === 'report' ? outcome.json : JSON.stringify(outcome));
  });
}

/** The detectors file that workers score by. */
async function detectorsText({ detectors }: Operations, { store }: Pick<AppServices, 'store'>): Promise<string> {
  const [newest] = await listDetectorVersions(store);
  return newest?.text ?? detectors.fileText();
}

/** Events that other settings of a detector would have raised on its series, or on those that `match` selects. */
export function addWhatIfRoute(app: App, services: AppServices): void {
  const { jobs } = services;
  app.post('/v1/what-if/jobs', describedJob({ body: WhatIfJobRequest }), async (request, reply) => {
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
      body: Buffer.from(JSON.stringify({ ...question, owner } satisfies WhatIfRequestOfJob)),
      timeoutSeconds: WHAT_IF_SECONDS_MAX,
    });
    noteAdmitted(request);
    return reply.code(202).send({ job_id: id });
  });
  const schema = described(jobAnswer(DetectorWhatIf), { params: ById }, 404);
  app.get('/v1/what-if/jobs/:id', schema, async (request, reply) => sendJob(jobs, { request, reply }, 'what_if'));
}
