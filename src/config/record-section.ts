import type { RecordMapping, StreamConfig, Topics } from './config.ts';
import { durationMs, integerFrom, oneOf, textMatching } from './kinds.ts';
import type { Section } from './yaml-section.ts';

/** A dotted path into a record: `value`, `tags.host`, `points[0].value`, each also with a leading `$.`. */
export const recordPath = textMatching(
  'a path such as value, tags.host or points[0].value',
  /^(\$\.)?[^\s.[\]]+(\[\d+\])*(\.[^\s.[\]]+(\[\d+\])*)*$/,
);

/** Kafka's own rule for the name of a topic. */
const topicName = textMatching(
  'a topic name: 1 to 249 letters, digits, dots, dashes or underscores',
  /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/,
);

const DAY_MS = 86_400_000;

/** Reads `topics`; no two of them may be one. */
export function readTopics(section: Section): Topics {
  const topics = {
    observations: section.read('observations', topicName) ?? 'observations',
    scores: section.read('scores', topicName) ?? 'anomaly-scores',
    changelog: section.read('changelog', topicName) ?? 'tidewatch-changelog',
    deadLetters: section.read('dead_letters', topicName) ?? 'dead-letters',
  };
  section.close();
  const keys = ['observations', 'scores', 'changelog', 'dead_letters'];
  const names = Object.values(topics);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first < index) section.problem(keys[index]!, `another topic than topics.${keys[first]}`, name);
  }
  return topics;
}

/** Reads `input`: the format of a record and where id, time and value sit in it. */
export function readInput(section: Section): RecordMapping {
  const mapping = {
    format: section.read('format', oneOf('json', 'avro', 'json-schema', 'protobuf')) ?? 'json',
    series: section.readList('series', recordPath) ?? ['metric'],
    time: section.read('time', recordPath) ?? 'timestamp',
    timeUnit: section.read('time_unit', oneOf('s', 'ms', 'us', 'ns', 'iso')) ?? 'ms',
    value: section.read('value', recordPath) ?? 'value',
    futureMsMax: section.read('future_limit', durationMs) ?? DAY_MS,
  };
  section.close();
  return mapping;
}

export function readOutput(section: Section): StreamConfig['output'] {
  const format = section.read('format', oneOf('json', 'avro', 'json-schema')) ?? 'json';
  section.close();
  return { format };
}
