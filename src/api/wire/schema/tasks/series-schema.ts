import Type from 'typebox';
import { TUNING_LOSSES } from '../../../../models/tuning-graphs.ts';
import type { WireFlags, WireLevel, WireNumbers } from '../../wire-answer.ts';
import { orNull } from '../query-fields.ts';

/*
 * Static types describe parsed bodies (wire-body.ts): columns are typed arrays, levels keep their literals. Nullable
 * fields use a list of types, so that a wrong value makes one problem instead of one per alternative.
 */

/** Limits allocations per series. A 200 MiB body of public clients holds fewer. */
const SERIES_MAX = 1_000_000;

/** Values are numbers of 32 bits; the largest is how public clients send infinity. */
const FLOAT32 = { minimum: -3.4028235e38, maximum: 3.4028235e38 };

const Column = Type.Unsafe<Float64Array>({
  type: 'array',
  items: { type: ['number', 'string', 'boolean', 'null'], ...FLOAT32 },
});

/** Variables of one request. A regression uses fewer; this bounds what is read. */
const VARIABLES_MAX = 1_000;

const Columns = (description: string) =>
  Type.Optional(
    Type.Unsafe<readonly Float64Array[] | null>({
      type: ['array', 'null'],
      items: Column,
      maxItems: VARIABLES_MAX,
      description,
    }),
  );

export const HistoryFields = {
  y: Type.Unsafe<Float64Array>({
    type: 'array',
    items: { type: ['number', 'null'], ...FLOAT32 },
    description: 'Values of all series, one series after the other, oldest first; null for a missing value.',
  }),
  sizes: Type.Array(Type.Integer({ exclusiveMinimum: 0 }), {
    minItems: 1,
    maxItems: SERIES_MAX,
    description: 'Number of values of each series.',
  }),
  X: Columns('Exogenous variables, one list per variable, aligned with `y`. Variables with future values come first.'),
  start_datetime: Type.Optional(
    Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      maxItems: SERIES_MAX,
      description: 'Start of each series in ISO 8601, for multivariate forecasts. Without it series end together.',
    }),
  ),
  categorical_exog: Type.Optional(
    Type.Unsafe<readonly number[] | null>({
      type: ['array', 'null'],
      items: { type: 'integer', minimum: 0 },
      maxItems: VARIABLES_MAX,
      description: 'Zero-based indexes of the categorical columns of `X`.',
    }),
  ),
};

export const Series = Type.Object({
  ...HistoryFields,
  X_future: Columns(
    'Future values of the first variables of `X` over the horizon, one list per variable, series after series. Where ' +
      'the history alone is forecast, its values have no effect; the other variables of `X` are historical.',
  ),
});

interface Texts {
  /** Indexes of text columns of `X`. Their values were replaced by category codes. */
  readonly texts?: readonly number[];
}

export type SeriesBody = Type.Static<typeof Series> & Texts;

export const Freq = Type.String({ description: 'pandas alias, such as `h`, `15min`, `W-SUN`.' });
export const ModelName = Type.Optional(Type.String({ description: 'Default: tsmodel-1.' }));
export const CleanExFirst = Type.Optional(
  Type.Boolean({
    description:
      'true: the exogenous signal is removed before the model is applied. false: it is applied after the model.',
  }),
);
export const MODEL_ID = '^[a-zA-Z0-9\\-_]{1,36}$';
export const FinetunedModelId = Type.Optional(orNull(Type.String({ pattern: MODEL_ID })));

/** The level of a two-sided interval, parsed with its literal. */
const LEVEL = { type: 'number', minimum: 0, exclusiveMaximum: 100 };
export const Level = Type.Optional(
  Type.Unsafe<WireLevel>({ ...LEVEL, description: 'Confidence level in percent. Default: 99.' }),
);
export const Levels = (minimum: number) =>
  Type.Optional(
    Type.Unsafe<readonly WireLevel[] | null>({
      type: ['array', 'null'],
      items: { ...LEVEL, minimum },
      maxItems: 100,
    }),
  );

/** Fields of requests that may fine-tune. */
export const Finetuning = {
  finetune_steps: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Training steps; 0 uses the model unchanged.' }),
  ),
  finetune_loss: Type.Optional(Type.Enum([...TUNING_LOSSES])),
  finetune_depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  finetuned_model_id: FinetunedModelId,
};

/** Model-specific settings; unknown ones are ignored. */
export const ModelParameters = Type.Optional(
  Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
);

export const Multivariate = Type.Optional(
  orNull(
    Type.Boolean({
      description:
        'Forecast all series as one group: each forecast uses the contexts of all members. Supported by tsmodel-2.1; ' +
        'ignored by univariate models.',
    }),
  ),
);

export const CONTRIBUTION_KINDS = ['shapley', 'intervention', 'granger', 'transfer_entropy'] as const;
export type ContributionKind = (typeof CONTRIBUTION_KINDS)[number];
export const ContributionsType = Type.Optional(
  Type.Enum([...CONTRIBUTION_KINDS], {
    description:
      'How `feature_contributions` are made. shapley: the effect of each variable, 0 at its mean. intervention: the ' +
      'difference from the forecast with the variable at its historical mean, or at its most frequent category. ' +
      'granger, transfer_entropy: the distance of the forecast from the mean of the history, shared out by the ' +
      'weights of /v2/explain. Default: shapley.',
  }),
);

export const HistExog = Type.Optional(
  Type.Unsafe<readonly number[] | null>({
    type: ['array', 'null'],
    items: { type: 'integer', minimum: 0 },
    maxItems: VARIABLES_MAX,
    description:
      'Zero-based indexes of the columns of `X` without future values: their effect is removed from the history and ' +
      'not added to forecasts. Default: the columns after those of `X_future`, if it is given; else none.',
  }),
);

export const positive = (description: string) => Type.Integer({ exclusiveMinimum: 0, description });
export const StepSize = Type.Optional(orNull(Type.Integer({ exclusiveMinimum: 0, description: 'Default: `h`.' })));

const numbers = (item: object) => Type.Unsafe<WireNumbers>({ type: 'array', items: item });
const NumbersOrNulls = numbers({ type: ['number', 'null'] });

export const Mean = NumbersOrNulls;
export const Scores = NumbersOrNulls;
export const Sizes = Type.Array(Type.Integer());
export const Positions = numbers({ type: 'integer' });
export const AnomalyFlags = Type.Unsafe<WireFlags>({ type: 'array', items: { type: 'boolean' } });

/** Bounds by key: `lo-L` and `hi-L` per level; null without levels. */
export const Intervals = Type.Unsafe<Record<string, WireNumbers> | null>({
  type: ['object', 'null'],
  additionalProperties: NumbersOrNulls,
});
export const Weights = Type.Unsafe<number[] | null>({ type: ['array', 'null'], items: { type: 'number' } });
export const Contributions = Type.Unsafe<WireNumbers[] | null>({ type: ['array', 'null'], items: NumbersOrNulls });
