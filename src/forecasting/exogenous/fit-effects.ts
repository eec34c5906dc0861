import type { ExogenousEffects } from '../in-sample.ts';
import type { ExogenousVariable } from './design.ts';
import { fitExogenous, sumContributions } from './exogenous-fit.ts';

interface EffectsSettings {
  /** True if the effect is subtracted before the model is applied, or fitted to the residuals of the model. */
  readonly cleanFirst: boolean;
  /** Variables without known future values: subtracted from the series, never added to a forecast. */
  readonly pastOnly: readonly number[];
  /** Only rows before it are training data. */
  readonly end: number;
  /** Values in a season. */
  readonly season: number;
  /** Yields to the event loop; called several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

export async function fitExogenousEffects(
  values: ArrayLike<number>,
  variables: readonly ExogenousVariable[],
  { cleanFirst, pastOnly, end, season, pause }: EffectsSettings,
): Promise<ExogenousEffects> {
  const { length } = values;
  const knownAhead = variables.map((variable, i) => (pastOnly.includes(i) ? null : variable));
  let fit = cleanFirst ? await fitExogenous(variables, values, { end, season, pause }) : null;
  const contributions = () => fit!.contributions(knownAhead, 0, length);
  return {
    subtracted: fit === null ? null : sumContributions(fit.contributions(variables, 0, length), length),
    async added(residuals) {
      fit ??= await fitExogenous(variables, residuals, { end, season: null, pause });
      return sumContributions(contributions(), length);
    },
    weights: () => fit!.weights,
    contributions,
    typical: () => fit!.typical(knownAhead, end),
  };
}
