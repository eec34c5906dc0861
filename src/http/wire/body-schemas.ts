import type { TSchema } from 'typebox';
import { FinetuneRequest } from '../schema/finetune.ts';
import { CrossValidationRequest, ForecastRequest } from '../schema/forecast.ts';
import { HistoricForecastRequest, InSampleDetectionRequest } from '../schema/in-sample.ts';
import { CrossValidationJob, DetectionJob, FinetuneJob, ForecastJob } from '../schema/jobs.ts';
import { ModelParamsQuery } from '../schema/model-params.ts';
import { OnlineDetectionRequest } from '../schema/online-detection.ts';
import { type CheckValue, schemaCheck } from '../schema-problems.ts';

/** Every body there is, by a name that another thread knows too. */
const BODY_SCHEMAS: Readonly<Record<string, TSchema>> = {
  modelParams: ModelParamsQuery,
  onlineDetection: OnlineDetectionRequest,
  inSampleDetection: InSampleDetectionRequest,
  historicForecast: HistoricForecastRequest,
  forecast: ForecastRequest,
  crossValidation: CrossValidationRequest,
  finetune: FinetuneRequest,
  detectionJob: DetectionJob,
  forecastJob: ForecastJob,
  crossValidationJob: CrossValidationJob,
  finetuneJob: FinetuneJob,
};

const checks = new Map<string, CheckValue>();

/** The check of a body by its name, compiled once. */
export function bodyCheck(name: string): CheckValue {
  const known = checks.get(name);
  if (known !== undefined) return known;
  const check = schemaCheck(BODY_SCHEMAS[name], 'body');
  checks.set(name, check);
  return check;
}

/** The name of a route's body. */
export function bodyName(schema: TSchema): string {
  const name = Object.keys(BODY_SCHEMAS).find((name) => BODY_SCHEMAS[name] === schema);
  if (name === undefined) throw new Error('a body has a name in BODY_SCHEMAS');
  return name;
}
