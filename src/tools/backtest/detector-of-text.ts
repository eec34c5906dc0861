import type { DetectorConfig } from '../../config/config.ts';
import { readDetectorsFile } from '../../config/detectors-file.ts';
import { resolveDetectors } from '../../config/resolve.ts';
import type { DetectorModel } from '../../engine/detector-models.ts';
import { matchDetectors } from '../../engine/unit/loaded-detector.ts';

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
