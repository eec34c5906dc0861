import type { LoadedConfig, WorkerLimits } from './config.ts';
import { readDetector } from './detector-section.ts';
import type { Kind } from './kinds.ts';
import { readInput, readOutput, readTopics } from './record-section.ts';
import { workerLimits } from './worker-limits.ts';
import { parseYaml, type Section } from './yaml-section.ts';

type WrittenStream = LoadedConfig['stream'];

/** What a detectors file holds. Limits it does not name are absent. */
export interface DetectorsFile {
  readonly stream: Omit<WrittenStream, 'groupId'>;
  readonly worker: Partial<WorkerLimits>;
}

const version: Kind<1> = {
  expected: '1',
  fromText: () => undefined,
  fromValue: (value) => (value === 1 ? value : undefined),
};

/** Reads a detectors file. `name` stands in the problems, which are added to `problems`; null when nothing could be read. */
export function readDetectorsFile(name: string, content: string, problems: string[]): DetectorsFile | null {
  const file = parseYaml(name, content, problems);
  if (file === null) return null;
  file.read('version', version, 'required');
  const stream = { ...readRecords(file), detectors: readDetectors(file) };
  const worker = readWorkerLimits(file.section('worker'));
  file.close();
  return { stream, worker };
}

function readRecords(file: Section): Pick<WrittenStream, 'topics' | 'input' | 'output'> {
  return {
    topics: readTopics(file.section('topics')),
    input: readInput(file.section('input')),
    output: readOutput(file.section('output')),
  };
}

/** What holds without a detectors file: the default topics and mapping. A frequency cannot be guessed, so there is no detector. */
export const noDetectorsFile: DetectorsFile = {
  stream: { ...readRecords(parseYaml('', '{}', [])!), detectors: [] },
  worker: {},
};

function readDetectors(file: Section): WrittenStream['detectors'] {
  const sections = file.sections('detectors');
  const detectors = sections.map(readDetector);
  const seen = new Set<string>();
  for (const [index, detector] of detectors.entries()) {
    if (detector === null) continue;
    if (seen.has(detector.name)) sections[index]!.problem('name', 'a name of its own', detector.name);
    seen.add(detector.name);
  }
  return detectors.filter((detector) => detector !== null);
}

function readWorkerLimits(section: Section): Partial<WorkerLimits> {
  const limits: { -readonly [K in keyof WorkerLimits]?: number } = {};
  for (const { key, fileKey, kind } of workerLimits) {
    const value = section.read(fileKey, kind);
    if (value !== undefined) limits[key] = value;
  }
  section.close();
  return limits;
}
