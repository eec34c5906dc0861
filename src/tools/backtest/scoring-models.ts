import { SCORING_FORECASTS_MAX } from '../../api/operations/scoring-price.ts';
import type { DetectorConfig } from '../../config/config.ts';
import { readDetectorsFile } from '../../config/detectors-file.ts';
import { resolveDetectors } from '../../config/resolve.ts';
import type { DetectorModel, DetectorModels } from '../../engine/detector-models.ts';
import { matchDetectors } from '../../engine/unit/loaded-detector.ts';
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

type DetectorOfText =
  | { readonly kind: 'problems'; readonly problems: readonly string[] }
  /** `index`: its place in the detectors file. */
  | { readonly kind: 'detector'; readonly detector: DetectorConfig; readonly index: number };

/** The detector of a detectors file that takes a series, with what it takes from its model. */
export function detectorOfText(
  text: string,
  series: string,
  models: ReadonlyMap<string, DetectorModel>,
): DetectorOfText {
  const problems: string[] = [];
  const file = readDetectorsFile('detectors', text, problems);
  if (file === null || problems.length > 0) return { kind: 'problems', problems };
  const written = file.stream.detectors;
  const found = matchDetectors(written.map((config) => ({ config })))(series)?.config;
  if (found === undefined) return { kind: 'problems', problems: [noDetector(series)] };
  const limits = new Map([...models].map(([name, { model }]) => [name, model.manifest]));
  const resolved = resolveDetectors([found], limits);
  if (resolved.kind === 'problems') return resolved;
  return { kind: 'detector', detector: resolved.detectors[0], index: written.indexOf(found) };
}

export function noDetector(series: string): string {
  return `no detector of the file takes the series ${series}`;
}
