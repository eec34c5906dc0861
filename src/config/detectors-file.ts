import type { LoadedConfig, RecordMapping, StreamConfig, Topics, WorkerLimits } from './config.ts';
import { readDetector } from './detector-section.ts';
import { boolean, durationMs, oneOf, recordPath, textMatching } from './kinds.ts';
import { workerLimits } from './options.ts';
import { parseYaml, type Section } from './yaml-section.ts';

type WrittenStream = LoadedConfig['stream'];

/** The content of a detectors file. Limits that it does not name are absent. */
export interface DetectorsFile {
  readonly stream: Omit<WrittenStream, 'groupId' | 'topics' | 'earlierChangelog'> & { readonly topics: WrittenTopics };
  readonly worker: Partial<WorkerLimits>;
}

/** The default name of the changelog contains the group id, which the file does not have. */
export type WrittenTopics = Omit<Topics, 'changelog'> & { readonly changelog: string | null };

/** Kafka's rule for topic names. */
const topicName = textMatching(
  'a topic name: 1 to 249 letters, digits, dots, dashes or underscores',
  /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/,
);

const headerName = textMatching('the name of a header: 1 to 100 printable ASCII characters', /^[\x21-\x7e]{1,100}$/);

/** Reads a detectors file; null when it cannot be parsed. Adds to `problems`, which begin with `name`. */
export function readDetectorsFile(name: string, content: string, problems: string[]): DetectorsFile | null {
  const file = parseYaml(name, content, problems);
  if (file === null) return null;
  const stream = { ...readRecords(file), detectors: readDetectors(file) };
  const worker = readWorkerLimits(file.section('worker'));
  file.close();
  return { stream, worker };
}

function readRecords(file: Section): Pick<DetectorsFile['stream'], 'topics' | 'input' | 'output'> {
  return {
    topics: readTopics(file.section('topics')),
    input: readInput(file.section('input')),
    output: readOutput(file.section('output')),
  };
}

/** Without a detectors file: default topics and mapping. There is no detector, since a frequency cannot be guessed. */
export const noDetectorsFile: DetectorsFile = {
  stream: { ...readRecords(parseYaml('', '{}', [])!), detectors: [] },
  worker: {},
};

function readTopics(section: Section): WrittenTopics {
  const topics = {
    observations: section.read('observations', topicName) ?? 'observations',
    scores: section.read('scores', topicName) ?? 'anomaly-scores',
    events: section.read('events', topicName) ?? 'anomaly-events',
    changelog: section.read('changelog', topicName) ?? null,
    deadLetters: section.read('dead_letters', topicName) ?? 'dead-letters',
  };
  section.close();
  const keys = ['observations', 'scores', 'events', 'changelog', 'dead_letters'];
  const names = Object.values(topics);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first < index) section.problem(keys[index], `another topic than topics.${keys[first]}`, name);
  }
  return topics;
}

function readInput(section: Section): RecordMapping {
  const mapping = {
    format: section.read('format', oneOf('json', 'avro', 'json-schema', 'protobuf')) ?? 'json',
    series: section.readList('series', recordPath) ?? ['series'],
    time: section.read('time', recordPath) ?? 'timestamp',
    timeUnit: section.read('time_unit', oneOf('s', 'ms', 'us', 'ns', 'iso')) ?? 'ms',
    value: section.read('value', recordPath) ?? 'value',
    repartition: section.read('repartition', boolean) ?? false,
    keyedBy: section.read('key', oneOf('series', 'other')) ?? 'series',
    futureMsMax: section.read('future_limit', durationMs) ?? null,
  };
  section.close();
  return mapping;
}

function readOutput(section: Section): StreamConfig['output'] {
  const format = section.read('format', oneOf('json', 'avro', 'json-schema')) ?? 'json';
  const compression = section.read('compression', oneOf('none', 'gzip', 'zstd')) ?? 'none';
  const timestamps = section.read('timestamps', oneOf('event-time', 'processing-time')) ?? 'event-time';
  const headers = section.readList('headers', headerName) ?? [];
  section.close();
  return { format, compression, timestamps, headers };
}

function readDetectors(file: Section): WrittenStream['detectors'] {
  const sections = file.sections('detectors');
  const detectors = sections.map(readDetector);
  const seen = new Set<string>();
  for (const [index, detector] of detectors.entries()) {
    if (detector === null) continue;
    if (seen.has(detector.name)) sections[index].problem('name', 'a name of its own', detector.name);
    seen.add(detector.name);
  }
  return detectors.filter((detector) => detector !== null);
}

function readWorkerLimits(section: Section): Partial<WorkerLimits> {
  const limits: { -readonly [K in keyof WorkerLimits]?: number } = {};
  for (const [name, { env, kind }] of Object.entries(workerLimits)) {
    const value = section.read(env!.replace(/^KAFKA_/, '').toLowerCase(), kind);
    if (value !== undefined) limits[name as keyof WorkerLimits] = value;
  }
  section.close();
  return limits;
}
