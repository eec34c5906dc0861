import type { Static } from 'typebox';
import type { ExplainAnswer } from '../../wire/schema/explain-schema.ts';
import type { WireNumbers } from '../../wire/wire-answer.ts';
import type { ExplainQuestion } from './explain-question.ts';

export function explainAnswer({ method }: ExplainQuestion, weights: WireNumbers) {
  return { weights, method, feature_names: null } satisfies Static<typeof ExplainAnswer>;
}
