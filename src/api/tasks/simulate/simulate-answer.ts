import type { Static } from 'typebox';
import type { SimulateAnswer } from '../../wire/schema/simulate-schema.ts';
import type { SimulateQuestion } from './simulate-question.ts';
import type { SimulatedPaths } from './simulate-run.ts';

export function simulateAnswer(
  { tokens, paths, settings: { h }, series }: SimulateQuestion,
  { samples, coupled }: SimulatedPaths,
) {
  const sizes = series.sizes.map(() => h);
  return { ...tokens, samples, n_paths: paths, h, sizes, coupled } satisfies Static<typeof SimulateAnswer>;
}
