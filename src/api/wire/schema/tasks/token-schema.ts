import Type from 'typebox';

/** Price of an answer. */
export const TokenFields = {
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  finetune_tokens: Type.Integer(),
};
