import type { Work } from '../accounts/metering.ts';
import { tokensOf } from '../accounts/token-count.ts';
import type { NewlyTuned } from '../models/prepared-model.ts';
import { modelParams, type ServedModels, untunable } from '../models/served-models.ts';
import { contextsOf, TUNING_DEFAULTS } from '../models/tuned-models.ts';
import { invalidRequest } from '../wire/problem.ts';
import type { FinetuneBody } from '../wire/schema/finetune-schema.ts';
import { modelOf, seriesProblems } from './series-request.ts';
import { splitSeries } from './split-series.ts';

/** Takes a fine-tuned model, to be stored when it is charged, and returns its id. */
export type KeepTuned = (tuned: NewlyTuned) => Promise<string>;

/** Throws an HttpProblem for an invalid request. */
export function finetuneWork(body: FinetuneBody, models: ServedModels, keep: KeepTuned): Work {
  const [steps, loss, depth] = [
    body.finetune_steps ?? TUNING_DEFAULTS.steps,
    body.finetune_loss ?? TUNING_DEFAULTS.loss,
    body.finetune_depth ?? TUNING_DEFAULTS.depth,
  ];
  const problems = seriesProblems({ ...body, finetune_steps: steps });
  const model = modelOf(models, { ...body, finetune_steps: 0 }, problems);
  // Also with 0 steps the model must support fine-tuning.
  if (model?.tunable === null) problems.push(untunable(models, model, 'model'));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const tokens = tokensOf({ ...body, finetune_steps: steps }, { predicted: 0, outputs: 0 });
  const run = async (signal: AbortSignal) => {
    const scope = {
      series: splitSeries(body.series),
      horizon: modelParams(model, body.freq).horizon,
      contexts: contextsOf(model, body.freq),
    };
    const weights = await model.tunable!.tune({ ...scope, steps, loss, depth }, signal);
    const baseModelId = body.finetuned_model_id ?? null;
    const kept = { model: model.name, named: nameIn(body, model.name, models), steps, depth, loss, freq: body.freq };
    const id = await keep({ weights, ...kept, baseModelId });
    return { ...tokens, finetuned_model_id: id };
  };
  return { tokens, run };
}

/** The name under which the request referred to the model. */
function nameIn({ model: named }: FinetuneBody, name: string, models: ServedModels): string {
  return named !== undefined && models.names.includes(named) && models.find(named)?.name === name ? named : name;
}
