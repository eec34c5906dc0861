import Type from 'typebox';
import { Finetuning, Freq, HistExog, MODEL_ID, ModelName, ModelParameters, Series } from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

export const FinetuneRequest = Type.Object({
  series: Series,
  freq: Freq,
  model: ModelName,
  output_model_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: MODEL_ID })),
  hist_exog: HistExog,
  multivariate: Type.Optional(
    Type.Unsafe<boolean | null>({
      type: ['boolean', 'null'],
      description: 'true is refused: a model is fine-tuned on each series alone.',
    }),
  ),
  model_parameters: ModelParameters,
  ...Finetuning,
});
export type FinetuneBody = Type.Static<typeof FinetuneRequest>;

export const FinetuneAnswer = Type.Object({ ...TokenFields, finetuned_model_id: Type.String() });
