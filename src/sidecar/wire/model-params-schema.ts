import Type from 'typebox';

export const ModelParamsQuery = Type.Object({
  model: Type.Optional(Type.String({ description: 'tsmodel-1 unless said otherwise' })),
  freq: Type.String({ description: 'pandas alias, such as `h`, `15min`, `W-SUN`; unknown ones get a generic profile' }),
});

export const ModelParams = Type.Object({
  detail: Type.Object({
    input_size: Type.Integer({ description: 'observations that the model looks at' }),
    horizon: Type.Integer({ description: 'steps that one forecast is meant to cover; more are possible' }),
  }),
});
