import Type from 'typebox';
import { TUNING_LOSSES } from '../../model/tuning-graphs.ts';
import type { WireFlags, WireNumbers } from './wire-answer.ts';
import type { WireLevel } from './wire-types.ts';

/*
 * Static types are those after reading (wire-body.ts): columns are typed arrays, levels keep their digits. A field that may be null is written
 * with a list of types, so that a wrong value makes one problem and not one for each alternative.
 */

/** Public clients refuse more series than fit into 200 MiB; so does this number, before anything is allocated for each. */
const SERIES_MAX = 1_000_000;

const Column = Type.Unsafe<Float64Array>({
  type: 'array',
  items: { type: ['number', 'string', 'boolean', 'null'] },
});

const Columns = (description: string) =>
  Type.Optional(Type.Unsafe<readonly Float64Array[] | null>({ type: ['array', 'null'], items: Column, description }));

export const HistoryFields = {
  y: Type.Unsafe<Float64Array>({
    type: 'array',
    items: { type: ['number', 'null'] },
    description: 'Values of all series, one series after the other, oldest first; null where nothing was observed.',
  }),
  sizes: Type.Array(Type.Integer({ exclusiveMinimum: 0 }), {
    minItems: 1,
    maxItems: SERIES_MAX,
    description: 'How many values of `y` belong to each series.',
  }),
  X: Columns('Exogenous variables, one list each, aligned with `y`; those with a future come first.'),
  start_datetime: Type.Optional(
    Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description:
        'When each series begins, in ISO 8601. Only series that are forecast together need it; without it they end together.',
    }),
  ),
  categorical_exog: Type.Optional(
    Type.Unsafe<readonly number[] | null>({
      type: ['array', 'null'],
      items: { type: 'integer', minimum: 0 },
      description: 'Which columns of `X` hold categories; zero-based.',
    }),
  ),
};

export const Series = Type.Object(HistoryFields);

export const SeriesWithFuture = Type.Object({
  ...HistoryFields,
  X_future: Columns('The first variables of `X` over the horizon, one list each, series after series.'),
});

interface Texts {
  /** Columns of `X` that hold texts; these were replaced by numbers, one for each category. */
  readonly texts?: readonly number[];
}

export type HistoryBody = Type.Static<typeof Series> & Texts;
export type SeriesBody = Type.Static<typeof SeriesWithFuture> & Texts;

export const Freq = Type.String({ description: 'pandas alias, such as `h`, `15min`, `W-SUN`' });
export const ModelName = Type.Optional(Type.String({ description: 'tsmodel-1 unless said otherwise' }));
export const CleanExFirst = Type.Optional(
  Type.Boolean({
    description: 'Whether the exogenous signal is removed before the model is applied, or applied after it.',
  }),
);
/** What an id of a fine-tuned model looks like. */
export const MODEL_ID = '^[a-zA-Z0-9\\-_]{1,36}$';
export const FinetunedModelId = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: MODEL_ID }),
);

/** Any level of a two-sided interval, as a number; kept with the digits it was written with. */
const LEVEL = { type: 'number', minimum: 0, exclusiveMaximum: 100 };
export const Level = Type.Optional(
  Type.Unsafe<WireLevel>({ ...LEVEL, description: 'Confidence level, 99 unless said otherwise.' }),
);
export const Levels = (minimum: number) =>
  Type.Optional(
    Type.Unsafe<readonly WireLevel[] | null>({
      type: ['array', 'null'],
      items: { ...LEVEL, minimum },
      maxItems: 100,
    }),
  );

/** What every request that may fine-tune on its way carries. */
export const Finetuning = {
  finetune_steps: Type.Optional(Type.Integer({ minimum: 0, description: '0 uses the model as it is.' })),
  finetune_loss: Type.Optional(Type.Enum([...TUNING_LOSSES])),
  finetune_depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  finetuned_model_id: FinetunedModelId,
};

/** Settings of one model that others do not know; none of ours has any here. */
export const ModelParameters = Type.Optional(
  Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
);

export const Multivariate = Type.Optional(
  Type.Boolean({
    description:
      'Forecast all series together, so that one may tell of another: at a forecast the past of each is seen, up to that time. Without effect where the model forecasts each alone, as all but tsmodel-2.1 do.',
  }),
);

/** Which columns of `X` are known for the past alone. */
export const HistExog = Type.Optional(
  Type.Unsafe<readonly number[] | null>({ type: ['array', 'null'], items: { type: 'integer', minimum: 0 } }),
);

export const positive = (description: string) => Type.Integer({ exclusiveMinimum: 0, description });
export const StepSize = Type.Optional(
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    exclusiveMinimum: 0,
    description: '`h` unless said otherwise',
  }),
);

const numbers = (item: object) => Type.Unsafe<WireNumbers>({ type: 'array', items: item });
const NumbersOrNulls = numbers({ type: ['number', 'null'] });

export const TokenFields = {
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  finetune_tokens: Type.Integer(),
};
export const Mean = NumbersOrNulls;
export const Scores = NumbersOrNulls;
export const Sizes = Type.Array(Type.Integer());
export const Positions = numbers({ type: 'integer' });
export const AnomalyFlags = Type.Unsafe<WireFlags>({ type: 'array', items: { type: 'boolean' } });

/** `lo-L` and `hi-L` by level, or null. */
export const Intervals = Type.Unsafe<Record<string, WireNumbers> | null>({
  type: ['object', 'null'],
  additionalProperties: NumbersOrNulls,
});
export const Weights = Type.Unsafe<number[] | null>({ type: ['array', 'null'], items: { type: 'number' } });
export const Contributions = Type.Unsafe<WireNumbers[] | null>({ type: ['array', 'null'], items: NumbersOrNulls });
