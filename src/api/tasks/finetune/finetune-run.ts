import type { NewlyTuned } from '../../models/prepared-model.ts';
import { modelParams } from '../../models/served-models.ts';
import { contextsOf } from '../../models/tuned-models.ts';
import { fitSeriesEffects } from '../series/series-effects.ts';
import type { FinetuneQuestion } from './finetune-question.ts';

/** Fine-tunes a model for forecasts and for detection, on series without the effects of their exogenous variables. */
export async function runFinetune(question: FinetuneQuestion, signal: AbortSignal): Promise<NewlyTuned> {
  const { series, frequency, model, tuning, named, freq, baseModelId } = question;
  const { horizon } = modelParams(model, frequency);
  const effects = await fitSeriesEffects(question, 0, signal);
  const cleaned = series.values.map((values, i) => withoutEffect(values, effects?.[i]?.subtracted));
  const request = { ...tuning, series: cleaned, horizon, contexts: contextsOf(model, frequency) };
  const weights = await model.tunable!.tune(request, signal);
  return { weights, ...tuning, model: model.name, named, freq, baseModelId };
}

function withoutEffect(values: Float64Array, effect: Float64Array | null | undefined): Float64Array {
  return effect ? values.map((value, i) => value - effect[i]) : values;
}
