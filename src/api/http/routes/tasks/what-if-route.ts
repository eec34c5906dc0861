import { listDetectorVersions } from '../../../../store/detector-versions.ts';
import { WHAT_IF_SECONDS_MAX, type WhatIfRequestOfJob } from '../../../jobs/what-if-job.ts';
import { modelsOfKey } from '../../../models/served-models.ts';
import { detectorToTry } from '../../../operations/detector-what-if.ts';
import { type Operations, operationsOf } from '../../../operations/operations.ts';
import { whatIfTokens } from '../../../operations/scoring-price.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { DetectorWhatIf, WhatIfJobRequest } from '../../../wire/schema/operations/what-if-schema.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import { describedJob, jobAnswer } from '../../../wire/schema/tasks/job-schema.ts';
import { type AppServices, backtestsOf } from '../../exchange/app-services.ts';
import type { App } from '../../exchange/fastify-app.ts';
import { callerOf, noteAdmitted } from '../../exchange/require-key.ts';
import { sendJob } from './job-routes.ts';

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
