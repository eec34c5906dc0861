import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import type { Work } from '../../../accounts/metering.ts';
import type { ServedModels } from '../../../models/served-models.ts';
import {
  crossValidationWork,
  explainWork,
  forecastWork,
  historicForecastWork,
  inSampleDetectionWork,
  onlineDetectionWork,
  simulateWork,
} from '../../../tasks/task-work.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { ExplainAnswer, ExplainRequest } from '../../../wire/schema/tasks/explain-schema.ts';
import * as forecast from '../../../wire/schema/tasks/forecast-schema.ts';
import * as past from '../../../wire/schema/tasks/in-sample-schema.ts';
import { OnlineDetectionAnswer, OnlineDetectionRequest } from '../../../wire/schema/tasks/online-detection-schema.ts';
import { SimulateAnswer, SimulateRequest } from '../../../wire/schema/tasks/simulate-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { requestModels } from '../../exchange/request-models.ts';
import { answerWith } from '../../exchange/send-answer.ts';

interface TaskOptions<B> {
  /** The body as it is meant, by the headers of the client. */
  readonly meant?: (body: B, headers: IncomingHttpHeaders) => B;
  readonly deprecated?: Readonly<Record<string, string>>;
}

/** The date is in the format of RFC 9745: 2026-01-01. */
const DEPRECATED = { deprecation: '@1767225600', link: '</v2/cross_validation>; rel="successor-version"' };

/**
 * The Python clients 0.7.3 and 0.7.4 request the history of a forecast (`add_history`) as windows after the first
 * `input_size` values, and accept any number of rows for it. They send the fields of a forecast, without `refit`, and
 * do not name their version.
 */
function withWholeHistory(
  body: forecast.CrossValidationBody,
  headers: IncomingHttpHeaders,
): forecast.CrossValidationBody {
  const { h, step_size, refit, hist_exog, feature_contributions, full_history } = body;
  const isUnnamed = headers['nixtla-client-version'] === undefined;
  const isPython = /^python-httpx\//.test(headers['user-agent'] ?? '');
  const isForecast = hist_exog !== undefined && feature_contributions !== undefined && step_size === h;
  const isHistory = isUnnamed && isPython && isForecast && refit === undefined && full_history === undefined;
  return isHistory ? { ...body, full_history: true } : body;
}

/** Detection, forecasts and explanations that are answered at once. */
export function addTaskRoutes(app: App, services: AppServices): void {
  const add = <B extends TSchema>(
    path: string,
    body: B,
    answer: TSchema,
    work: (body: Static<B>, models: ServedModels) => Work,
    { meant, deprecated }: TaskOptions<Static<B>> = {},
  ) => {
    const accepted = { body, ...(deprecated !== undefined && { deprecated: true }) };
    app.post(path, described(answer, accepted, 404), async (request, reply) => {
      if (deprecated !== undefined) reply.headers(deprecated);
      const given = request.body as Static<B>;
      const made = work(meant?.(given, request.headers) ?? given, await requestModels(services, request));
      return answerWith({ services, request, reply }, made);
    });
  };
  add('/v2/online_anomaly_detection', OnlineDetectionRequest, OnlineDetectionAnswer, onlineDetectionWork);
  add('/v2/anomaly_detection', past.InSampleDetectionRequest, past.InSampleDetectionAnswer, inSampleDetectionWork);
  add('/v2/historic_forecast', past.HistoricForecastRequest, past.HistoricForecastAnswer, historicForecastWork, {
    deprecated: DEPRECATED,
  });
  add('/v2/forecast', forecast.ForecastRequest, forecast.ForecastAnswer, forecastWork);
  add('/v2/cross_validation', forecast.CrossValidationRequest, forecast.CrossValidationAnswer, crossValidationWork, {
    meant: withWholeHistory,
  });
  add('/v2/explain', ExplainRequest, ExplainAnswer, explainWork);
  add('/v2/simulate', SimulateRequest, SimulateAnswer, simulateWork);
}
