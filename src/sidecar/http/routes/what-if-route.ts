import { listDetectorVersions } from '../../../store/detector-versions.ts';
import { modelsOfKey } from '../../models/served-models.ts';
import { operationsOf } from '../../operations/operations.ts';
import { whatIfWork } from '../../operations/what-if-work.ts';
import { Detail, seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { WhatIfAnswer, WhatIfRequest } from '../../wire/schema/detectors-schema.ts';
import { type AppServices, backtestsOf } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { callerOf } from '../exchange/require-key.ts';
import { answerWith } from '../exchange/send-answer.ts';

/** What other settings of a detector would have raised. */
export function addWhatIfRoute(app: App, services: AppServices): void {
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
    async (request, reply) => {
      const operations = operationsOf(services.operations);
      const { store } = services;
      const { key } = callerOf(request);
      const [newest] = await listDetectorVersions(store);
      const models = modelsOfKey(services.models, key);
      const work = await whatIfWork(operations, backtestsOf(services), {
        body: request.body,
        store,
        owner: key.owner,
        detectorsText: newest?.text ?? (await operations.detectors.fileText()),
        allow: ({ pretrained }) => void models.find(pretrained),
      });
      return answerWith({ services, request, reply }, work);
    },
  );
}
