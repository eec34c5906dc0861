import Type from 'typebox';

export const FinetunedModel = Type.Object({
  id: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  created_by: Type.String(),
  base_model_id: Type.String(),
  steps: Type.Integer(),
  depth: Type.Integer(),
  loss: Type.String(),
  model: Type.String(),
  freq: Type.String(),
});

export const FinetunedModels = Type.Object({ finetuned_models: Type.Array(FinetunedModel) });
export type FinetunedModels = Type.Static<typeof FinetunedModels>;
