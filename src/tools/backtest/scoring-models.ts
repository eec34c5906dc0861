import { SCORING_FORECASTS_MAX } from '../../api/operations/scoring-price.ts';
import type { DetectorModels } from '../../engine/detector-models.ts';
import type { Forecasters } from '../../models/onnx-forecaster.ts';
import { shortened } from '../csv/shortened.ts';

/** The models of the sandbox, loaded. */
export interface ScoringModels extends DetectorModels {
  readonly forecasterFor: Forecasters['forecasterFor'];
}

export interface ProblemsHeader {
  readonly kind: 'problems';
  readonly problems: readonly string[];
}

/** The problem of settings whose forecasts are too many to be made in time; none if they are few enough. */
export function forecastProblems(
  observations: number,
  { stepSize }: { readonly stepSize: number },
  remedy: string,
): readonly string[] {
  const forecasts = Math.ceil(observations / stepSize);
  if (forecasts <= SCORING_FORECASTS_MAX) return [];
  const made = `${observations} observations by steps of ${stepSize} make ${forecasts} forecasts`;
  return [`${made}, more than ${SCORING_FORECASTS_MAX}: ${remedy}`];
}

/** Problems, or remarks, of one answer; and the characters of one. */
const TEXTS_MAX = 100;
const CHARACTERS_MAX = 500;

/** Texts that quote what somebody sent are bounded; those beyond are counted. */
export function boundedTexts(texts: readonly string[]): readonly string[] {
  const shown = texts.slice(0, TEXTS_MAX).map((text) => shortened(text, CHARACTERS_MAX));
  const more = texts.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more`];
}

export function problemsHeader(problems: readonly string[]): ProblemsHeader {
  return { kind: 'problems', problems: boundedTexts(problems) };
}
