import type { NewlyTuned } from '../../models/prepared-model.ts';
import { modelParams } from '../../models/served-models.ts';
import { contextsOf } from '../../models/tuned-models.ts';
import type { FinetuneQuestion } from './finetune-question.ts';

/** Fine-tunes a model for forecasts and for detection. */
export async function runFinetune(question: FinetuneQuestion, signal: AbortSignal): Promise<NewlyTuned> {
  const { series, frequency, model, tuning, named, freq, baseModelId } = question;
  const { horizon } = modelParams(model, frequency);
  const request = { ...tuning, series: series.values, horizon, contexts: contextsOf(model, frequency) };
  const weights = await model.tunable!.tune(request, signal);
  return { weights, ...tuning, model: model.name, named, freq, baseModelId };
}
