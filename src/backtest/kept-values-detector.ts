import type { DetectorConfig, LoadedConfig, WrittenDetector } from '../config/config.ts';
import { readDetectorsFile } from '../config/detectors-file.ts';
import { resolveConfig } from '../config/resolve.ts';
import type { DetectorModel } from '../detector-models.ts';
import { matchDetectors } from '../stream/engine/unit/bound-detector.ts';

interface Problems {
  readonly kind: 'problems';
  readonly problems: readonly string[];
}

export type WrittenDetectorOf =
  | Problems
  | { readonly kind: 'written'; readonly written: WrittenDetector; readonly index: number };

/** The detector that takes a series, as a detectors file has it; its models are not looked at. */
export function writtenDetectorOf(text: string, series: string): WrittenDetectorOf {
  const problems: string[] = [];
  const file = readDetectorsFile('detectors', text, problems);
  if (file === null || problems.length > 0) return { kind: 'problems', problems };
  const written = file.stream.detectors;
  const found = matchDetectors(written.map((config) => ({ config })))(series);
  if (found === null) return refused(`no detector of the file takes the series ${series}`);
  if (found.config.group !== null) return refused(`${found.config.name} scores groups, and one series was requested`);
  return { kind: 'written', written: found.config, index: written.indexOf(found.config) };
}

export type DetectorOf = Problems | { readonly kind: 'detector'; readonly detector: DetectorConfig };

/** The same with what it takes from its model. */
export function detectorOfText(text: string, series: string, byName: ReadonlyMap<string, DetectorModel>): DetectorOf {
  const found = writtenDetectorOf(text, series);
  if (found.kind === 'problems') return found;
  const limits = new Map([...byName].map(([name, { model }]) => [name, model.manifest]));
  const stream = { detectors: [found.written] };
  const resolved = resolveConfig({ stream } as unknown as LoadedConfig, limits);
  if (resolved.kind === 'problems') return resolved;
  return { kind: 'detector', detector: resolved.config.stream.detectors[0] };
}

function refused(problem: string): Problems {
  return { kind: 'problems', problems: [problem] };
}
