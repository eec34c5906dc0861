import type { TObject } from 'typebox';
import { CreditRequest, NewKeyRequest, RoleRequest } from '../schema/admin-schema.ts';
import { BacktestRequest } from '../schema/operations/backtest-schema.ts';
import { ChangeRequest } from '../schema/operations/change-schema.ts';
import { DetectorsRequest } from '../schema/operations/detectors-schema.ts';
import { AcknowledgeRequest, LabelRequest, MuteRequest } from '../schema/operations/event-schema.ts';
import { VerdictRequest } from '../schema/operations/incident-schema.ts';
import { NewMuteRequest } from '../schema/operations/mute-schema.ts';
import { WhatIfJobRequest } from '../schema/operations/what-if-schema.ts';
import { schemaCheck } from '../schema/schema-problems.ts';
import { ExplainRequest } from '../schema/tasks/explain-schema.ts';
import { FinetuneRequest } from '../schema/tasks/finetune-schema.ts';
import { CrossValidationRequest, ForecastRequest } from '../schema/tasks/forecast-schema.ts';
import { HistoricForecastRequest, InSampleDetectionRequest } from '../schema/tasks/in-sample-schema.ts';
import {
  CrossValidationJob,
  DetectionJob,
  ExplainJob,
  FinetuneJob,
  ForecastJob,
  JOB_TASKS,
  SimulateJob,
} from '../schema/tasks/job-schema.ts';
import { ModelParamsQuery } from '../schema/tasks/model-params-schema.ts';
import { OnlineDetectionRequest } from '../schema/tasks/online-detection-schema.ts';
import { SimulateRequest } from '../schema/tasks/simulate-schema.ts';
import type { BodyRules, FieldShape, NamedFields } from './wire-body.ts';

/** All body schemas. Their names are known to the parser thread. */
const BODY_SCHEMAS: Readonly<Record<string, TObject>> = {
  modelParams: ModelParamsQuery,
  onlineDetection: OnlineDetectionRequest,
  inSampleDetection: InSampleDetectionRequest,
  historicForecast: HistoricForecastRequest,
  forecast: ForecastRequest,
  crossValidation: CrossValidationRequest,
  finetune: FinetuneRequest,
  explain: ExplainRequest,
  simulate: SimulateRequest,
  detectionJob: DetectionJob,
  forecastJob: ForecastJob,
  crossValidationJob: CrossValidationJob,
  finetuneJob: FinetuneJob,
  explainJob: ExplainJob,
  simulateJob: SimulateJob,
  newKey: NewKeyRequest,
  keyRole: RoleRequest,
  keyCredit: CreditRequest,
  acknowledge: AcknowledgeRequest,
  mute: MuteRequest,
  newMute: NewMuteRequest,
  label: LabelRequest,
  verdict: VerdictRequest,
  change: ChangeRequest,
  detectors: DetectorsRequest,
  whatIfJob: WhatIfJobRequest,
  backtest: BacktestRequest,
};

/** Bodies that are stored as received, for jobs. */
export const KEPT_BODIES: ReadonlySet<object> = new Set(JOB_TASKS.map(({ request }) => request));

const compiled = new Map<string, BodyRules>();

/** The rules of a body, compiled once. */
export function bodyRules(name: string): BodyRules {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const rules = { check: schemaCheck(BODY_SCHEMAS[name], 'body'), fields: fieldsOf(BODY_SCHEMAS[name]) };
  compiled.set(name, rules);
  return rules;
}

export function bodyName(schema: object): string {
  const name = Object.keys(BODY_SCHEMAS).find((name) => BODY_SCHEMAS[name] === schema);
  if (name === undefined) throw new Error('a body has a name in BODY_SCHEMAS');
  return name;
}

interface ObjectSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly additionalProperties?: boolean;
  readonly patternProperties?: object;
  readonly items?: ObjectSchema;
}

/** Fields whose values are not built as JavaScript values, by path. */
const CONVERTED: Readonly<Record<string, FieldShape>> = {
  'series.y': 'column',
  'series.X': 'columns',
  'series.X_future': 'columns',
  level: 'literals',
  seed: 'literals',
};

function nestedFields(of: ObjectSchema, prefix: string): FieldShape {
  if (of.type?.includes('object')) return fieldsOf(of, prefix);
  return of.type?.includes('array') && of.items?.type?.includes('object') ? [fieldsOf(of.items, prefix)] : null;
}

function fieldsOf(schema: ObjectSchema, prefix = ''): NamedFields {
  const { properties = {}, additionalProperties = true, patternProperties } = schema;
  const named = Object.entries(properties).map(([field, of]): [string, FieldShape] => {
    const path = `${prefix}${field}`;
    return [field, CONVERTED[path] ?? nestedFields(of, `${path}.`)];
  });
  // Those of a map have names of their senders.
  const keepsOthers = !additionalProperties || patternProperties !== undefined;
  return { ...Object.fromEntries(named), ...(keepsOthers ? { '*': null } : {}) };
}
