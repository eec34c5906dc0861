import Type from 'typebox';
import { RELEVANCE_METHODS } from '../../../../forecasting/relevance/relevance-weights.ts';
import { nullable } from '../query-fields.ts';
import { HistoryFields } from './series-schema.ts';

const { y, sizes, categorical_exog } = HistoryFields;

export const ExplainRequest = Type.Object({
  series: Type.Object({
    y,
    sizes,
    X: Type.Unsafe<readonly Float64Array[]>({
      ...HistoryFields.X,
      type: 'array',
      minItems: 1,
      description: 'The features, one list each, aligned with `y`; null for a missing value.',
    }),
    categorical_exog,
  }),
  method: Type.Optional(
    Type.Enum([...RELEVANCE_METHODS], {
      description:
        'granger: what the lags of a feature add to a linear forecast. transfer_entropy: the information that its ' +
        'last value has about the next value of the series. Default: granger.',
    }),
  ),
});
export type ExplainBody = Type.Static<typeof ExplainRequest>;

export const ExplainAnswer = Type.Object({
  weights: Type.Unsafe<Float64Array>({
    type: 'array',
    items: { type: 'number', minimum: 0 },
    description: 'One for each feature; they add up to 1. Equal if no feature is relevant.',
  }),
  method: Type.Enum([...RELEVANCE_METHODS]),
  feature_names: nullable(Type.Array(Type.String()), 'Null: requests have no names of features.'),
});
