import Type from 'typebox';
import type { WireLiteral } from '../../wire-answer.ts';
import * as fields from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

export const PATHS_MAX = 10_000;
export const PATHS_DEFAULT = 100;
const QUANTILES_MIN = 2;
const QUANTILES_MAX = 200;
/** Seeds of public clients: integers of 64 bits, signed or not. */
export const SEED_MIN = -(2n ** 63n);
export const SEED_MAX = 2n ** 64n - 1n;

export const SimulateRequest = Type.Object({
  series: fields.Series,
  freq: fields.Freq,
  model: fields.ModelName,
  h: fields.positive('Horizon: steps of a path.'),
  n_paths: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PATHS_MAX, description: `Paths of each series. Default: ${PATHS_DEFAULT}.` }),
  ),
  quantiles: Type.Optional(
    Type.Unsafe<readonly number[] | null>({
      type: ['array', 'null'],
      items: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      minItems: QUANTILES_MIN,
      maxItems: QUANTILES_MAX,
      description:
        'Probabilities, strictly increasing, at which the distribution of each step is forecast in addition to the ' +
        'percentiles.',
    }),
  ),
  seed: Type.Optional(
    Type.Unsafe<WireLiteral | null>({
      type: ['integer', 'null'],
      minimum: Number(SEED_MIN),
      maximum: Number(SEED_MAX),
      description:
        `The same seed and inputs give the same paths: ${SEED_MIN} to ${SEED_MAX}, every digit counts. Without ` +
        'one, every answer has other paths.',
    }),
  ),
  finetuned_model_id: fields.FinetunedModelId,
  clean_ex_first: fields.CleanExFirst,
  multivariate: Type.Optional(
    Type.Boolean({
      description:
        'Paths of all series together: each path follows the same window of all histories, and tsmodel-2.1 forecasts ' +
        'the series as one group. `coupled` is true if there was such a window.',
    }),
  ),
});
export type SimulateBody = Type.Static<typeof SimulateRequest>;

export const SimulateAnswer = Type.Object({
  ...TokenFields,
  samples: Type.Unsafe<Float64Array>({
    type: 'array',
    items: { type: ['number', 'null'] },
    description: 'Values of all paths: path after path, in each series after series, in each step after step.',
  }),
  n_paths: Type.Integer(),
  h: Type.Integer(),
  sizes: fields.Sizes,
  coupled: Type.Boolean({ description: 'Whether the paths of all series follow the same windows.' }),
});
