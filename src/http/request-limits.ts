import { type FieldProblem, fieldProblem } from './problem.ts';

/** Numbers of one answer that are not as many as those of its request. */
const ANSWER_NUMBERS_MAX = 50_000_000;
/** Forecasts that one request may need; more would take minutes, and memory for each. */
const FORECASTS_MAX = 3_000_000;

export function answerTooLong(numbers: number): FieldProblem[] {
  if (numbers <= ANSWER_NUMBERS_MAX) return [];
  const text = `the answer would hold ${numbers} numbers, more than ${ANSWER_NUMBERS_MAX}; ask for less at once`;
  return [fieldProblem(['body', 'h'], text)];
}

export function tooManyForecasts(forecasts: number): FieldProblem[] {
  if (forecasts <= FORECASTS_MAX) return [];
  const text = `${forecasts} forecasts would be needed, more than ${FORECASTS_MAX}; send fewer series at once, or take larger steps`;
  return [fieldProblem(['body', 'series'], text)];
}
