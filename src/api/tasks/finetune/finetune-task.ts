import { tokensOf } from '../../accounts/token-count.ts';
import type { ServedModels } from '../../models/served-models.ts';
import { modelParams } from '../../models/served-models.ts';
import { contextsOf, type NewlyTuned } from '../../models/tuned-models.ts';
import type { FinetuneBody } from '../../wire/schema/tasks/finetune-schema.ts';
import { checkTuningSteps } from '../series/request-limits.ts';
import { RequestReader, type SeriesQuestion } from '../series/request-reader.ts';
import { fitSeriesEffects } from '../series/series-effects.ts';

interface FinetuneQuestion extends SeriesQuestion {
  readonly freq: string;
  /** The name under which the request referred to the model. */
  readonly named: string;
  /** The fine-tuned model that the new one is derived from. */
  readonly baseModelId: string | null;
}

const STEPS = 10;

/** Throws an HttpProblem for an invalid request. */
export function readFinetune(request: FinetuneBody, models: ServedModels): FinetuneQuestion {
  const body = { ...request, finetune_steps: request.finetune_steps ?? STEPS };
  const { model: named, freq, finetuned_model_id: baseModelId = null } = body;
  const reader = new RequestReader(body, models);
  checkTuningSteps(reader.problems, body);
  if (body.multivariate) {
    const text =
      'a model is fine-tuned on each series alone, also one that forecasts groups; leave it out, or send false';
    reader.problems.add(['multivariate'], text);
  }
  const read = reader.question(undefined, 'model');
  const { name } = read.model;
  const isName = named !== undefined && models.names.includes(named) && models.find(named)?.name === name;
  return {
    ...read,
    freq,
    named: isName ? named : name,
    baseModelId,
    tokens: tokensOf(body, { predicted: 0, outputs: 0 }),
  };
}

/** Fine-tunes a model for forecasts and for detection, on series without the effects of their exogenous variables. */
export async function runFinetune(question: FinetuneQuestion, signal: AbortSignal): Promise<NewlyTuned> {
  const { series, frequency, model, tuning, named, freq, baseModelId } = question;
  const { horizon } = modelParams(model, frequency);
  const effects = await fitSeriesEffects(question, 0, signal);
  const cleaned = series.values.map((values, i) => {
    const effect = effects?.[i]?.subtracted;
    return effect ? values.map((value, at) => value - effect[at]) : values;
  });
  const request = { ...tuning, series: cleaned, horizon, contexts: contextsOf(model, frequency) };
  const weights = await model.tunable!.tune(request, signal);
  return { weights, ...tuning, model: model.name, named, freq, baseModelId };
}
