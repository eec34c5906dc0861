import Type from 'typebox';
import { orNull } from '../query-fields.ts';
import { Finetuning, Freq, HistExog, MODEL_ID, ModelName, ModelParameters, Series } from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

export const FinetuneRequest = Type.Object({
  series: Series,
  freq: Freq,
  model: ModelName,
  output_model_id: Type.Optional(orNull(Type.String({ pattern: MODEL_ID }))),
  hist_exog: HistExog,
  multivariate: Type.Optional(
    orNull(Type.Boolean({ description: 'true is refused: a model is fine-tuned on each series alone.' })),
  ),
  model_parameters: ModelParameters,
  ...Finetuning,
});
export type FinetuneBody = Type.Static<typeof FinetuneRequest>;

export const FinetuneAnswer = Type.Object({ ...TokenFields, finetuned_model_id: Type.String() });
