import Type from 'typebox';

export const TokenFields = {
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  finetune_tokens: Type.Integer(),
};
