import Type from 'typebox';
import { Finetuning, Freq, MODEL_ID, ModelName, Series } from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

export const FinetuneRequest = Type.Object({
  series: Series,
  freq: Freq,
  model: ModelName,
  output_model_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: MODEL_ID })),
  ...Finetuning,
});
export type FinetuneBody = Type.Static<typeof FinetuneRequest>;

export const FinetuneAnswer = Type.Object({ ...TokenFields, finetuned_model_id: Type.String() });
