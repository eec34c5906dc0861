import Type from 'typebox';

export const ModelParamsQuery = Type.Object({
  model: Type.Optional(Type.String({ description: 'Default: tsmodel-1.' })),
  freq: Type.String({
    description: 'pandas alias, such as `h`, `15min`, `W-SUN`. Unknown aliases get a generic profile.',
  }),
});

export const ModelParams = Type.Object({
  detail: Type.Object({
    input_size: Type.Integer({ description: 'Observations that the model takes as context.' }),
    horizon: Type.Integer({ description: 'Steps that one forecast covers. Longer horizons are possible.' }),
  }),
});
