import type { ExogenousEffects } from '../exogenous-effects.ts';
import type { ExogenousVariable } from './design.ts';
import { fitExogenous, sumContributions } from './exogenous-fit.ts';

export interface EffectsSettings {
  readonly cleanFirst: boolean;
  /** Variables that are not known ahead: they clean what the model sees and add nothing to its forecasts. */
  readonly pastOnly: readonly number[];
  /** Only values before it are learnt from. */
  readonly end: number;
  /** Values in a season. */
  readonly season: number;
  /** Lets others have a turn, several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

export async function fitExogenousEffects(
  values: ArrayLike<number>,
  variables: readonly ExogenousVariable[],
  { cleanFirst, pastOnly, end, season, pause }: EffectsSettings,
): Promise<ExogenousEffects> {
  const { length } = values;
  const known = variables.map((variable, i) => (pastOnly.includes(i) ? null : variable));
  let fit = cleanFirst ? await fitExogenous(variables, values, end, { season, pause }) : null;
  const contributions = () => fit!.contributions(known, 0, length);
  return {
    cleaned: fit === null ? null : sumContributions(fit.contributions(variables, 0, length), length),
    async ahead(residuals) {
      fit ??= await fitExogenous(variables, residuals, end, { season: null, pause });
      return sumContributions(contributions(), length);
    },
    weights: () => fit!.weights,
    contributions,
  };
}
