import { createEventDecoder } from '../../codecs/event-codec.ts';
import { reasonOf } from '../../codecs/formats/quoted.ts';
import { connectRegistry } from '../../codecs/formats/registry.ts';
import type { SchemaSource } from '../../codecs/formats/schema-source.ts';
import { createIncidentDecoder } from '../../codecs/incident-codec.ts';
import { createScoreDecoder } from '../../codecs/score-decoder.ts';
import type { KafkaConfig, StreamConfig } from '../../config/config.ts';
import { commandFlag, switchFlag } from '../../config/options/option.ts';
import { kafkaOptions, registryOptions, streamOptions } from '../../config/options/options.ts';
import { incidentOptions } from '../../config/options/topic-options.ts';
import { stdoutTakesColour } from '../../config/process-environment.ts';
import { seriesText } from '../../config/schema/kinds.ts';
import { readWholeTopic, type TopicRecord, tailTopic } from '../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { seriesPattern } from '../../records/series/series-pattern.ts';
import { aborted, type CommandIo, DONE, type ExitCode } from '../../tools/terminal/command-io.ts';
import {
  eventLine,
  eventLineHeader,
  incidentLine,
  incidentLineHeader,
  isAbout,
} from '../../tools/terminal/event-text.ts';
import {
  SCORE_LINE_STYLE,
  type ScoreSelection,
  ScoreView,
  type ScoreViewOptions,
  scoreLineHeader,
} from '../../tools/terminal/score-line.ts';
import { command, jsonFlag, printProblems } from './command.ts';

const SUMMARY_MS = 1_000;

const own = {
  all: switchFlag(
    'all',
    'prints every score (default: alarms, or anomalies if alarms are off, and counts the scores between them)',
  ),
  anomalies: switchFlag('anomalies', 'prints only values outside their interval'),
  series: commandFlag(
    'series',
    seriesText,
    'prints only series that match a glob (* any characters, ? one) or matchers of labels',
  ),
  fromBeginning: switchFlag('from-beginning', 'also prints earlier records'),
  untilNow: switchFlag('until-now', 'prints earlier records in order of event time, then exits'),
  events: switchFlag('events', 'prints events instead: opened, updated, closed'),
  incidents: switchFlag('incidents', 'prints incidents instead: opened, updated, closed, merged'),
  json: { ...jsonFlag, help: 'prints one JSON record a line; every score, except with --anomalies' },
};

/** Prints scores, events or incidents, as they are committed, until it is stopped. */
export const watchCommand = command({
  own,
  settings: {
    ...kafkaOptions,
    ...registryOptions,
    detectors: streamOptions.detectors,
    incidentsTopic: incidentOptions.incidentsTopic,
  },
  requires: ['brokers'],
  async run({ values, config }, io) {
    const { all, anomalies, events, incidents, series, fromBeginning, untilNow, json } = values;
    const exclusive = Object.entries({ all, anomalies, events, incidents }).filter(([, given]) => given);
    if (exclusive.length > 1) {
      return printProblems([`${exclusive.map(([name]) => `--${name}`).join(' and ')} exclude each other`], io);
    }
    if (incidents && series !== undefined) {
      return printProblems(['--incidents shows incidents of any series: leave out --series'], io);
    }
    const { stream, kafka, registry: registryConfig } = config;
    const registry = stream.output.format === 'avro' ? await connectRegistry(registryConfig!) : null;
    const units = new Map(stream.detectors.flatMap(({ name, unit }) => (unit ? [[name, unit] as const] : [])));
    const style = { ...SCORE_LINE_STYLE, colour: stdoutTakesColour(), units };
    const options = { stream, registry, series: seriesPattern([series ?? '*']), json, style };
    const selection = anomalies ? 'anomalies' : all || json ? 'all' : 'flagged';
    const watched = incidents
      ? watchedIncidents(config.incidents.topic, options)
      : events
        ? watchedEvents(options)
        : watchedScores(selection, options);
    if (untilNow) return printUntilNow(watched, { kafka, json }, io).finally(() => registry?.close());
    const summary = setInterval(() => printIfAny(watched.summary(), io), SUMMARY_MS);
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    failed.catch(() => {});
    try {
      const from = fromBeginning ? 'earliest' : 'latest';
      const tail = await tailTopic(
        { config: kafka },
        { topic: watched.topic, from },
        {
          onRecords: (records) => showRecords(records, watched, { io, show: ({ line }) => io.out(line) }).catch(fail),
          onConnection: (error) =>
            io.err(error === null ? 'Kafka is available again.' : `${error.message}; the watch waits for Kafka.`),
        },
      );
      if (!json) io.out(watched.header);
      await Promise.race([aborted(io.stop), failed]).finally(() => tail.stop());
      printIfAny(watched.summary(), io);
      return DONE;
    } finally {
      clearInterval(summary);
      await registry?.close();
    }
  },
});

interface Watched {
  readonly topic: string;
  readonly header: string;
  /** null for a record that is not to be shown. Rejects where it is another record, or a schema cannot be fetched. */
  lineOf(value: Buffer): Promise<ShownRecord | null>;
  /** A line about what was not shown recently; null if nothing was left out. */
  summary(): string | null;
}

interface ShownRecord {
  readonly timeMs: number;
  readonly line: string;
}

interface WatchOptions extends Pick<ScoreViewOptions, 'series' | 'json' | 'style'> {
  readonly stream: Pick<StreamConfig, 'topics' | 'output'>;
  readonly registry: SchemaSource | null;
}

function watchedScores(selection: ScoreSelection, { stream, registry, series, json, style }: WatchOptions): Watched {
  const view = new ScoreView({ selection, series, json, style });
  const decode = createScoreDecoder(stream.output.format, registry);
  return {
    topic: stream.topics.scores,
    header: scoreLineHeader(style),
    async lineOf(value) {
      const score = await decode(value);
      const line = view.show(score);
      return line === null ? null : { timeMs: score.timestampMs, line };
    },
    summary: () => view.summary(),
  };
}

function watchedEvents({ stream, registry, series: pattern, json, style }: WatchOptions): Watched {
  const decode = createEventDecoder(stream.output.format, registry);
  const lineOf = async (value: Buffer) => {
    const event = await decode(value);
    if (!isAbout(event, pattern)) return null;
    return { timeMs: event.updatedAtMs, line: json ? JSON.stringify(event) : eventLine(event, style) };
  };
  return { topic: stream.topics.events, header: eventLineHeader(style), lineOf, summary: () => null };
}

function watchedIncidents(topic: string, { stream, registry, json, style }: WatchOptions): Watched {
  const decode = createIncidentDecoder(stream.output.format, registry);
  const lineOf = async (value: Buffer) => {
    const incident = await decode(value);
    return { timeMs: incident.updatedAtMs, line: json ? JSON.stringify(incident) : incidentLine(incident, style) };
  };
  return { topic, header: incidentLineHeader(), lineOf, summary: () => null };
}

/** Records that `--until-now` sorts in memory. */
const SORTED_MAX = 1_000_000;

/** Partitions are read one after another: their records are printed in order of event time. */
async function printUntilNow(
  watched: Watched,
  { kafka, json }: { readonly kafka: KafkaConfig; readonly json: boolean },
  io: CommandIo,
): Promise<ExitCode> {
  const shown: ShownRecord[] = [];
  const show = (record: ShownRecord) => {
    if (shown.push(record) <= SORTED_MAX) return;
    const remedy = 'name fewer series (--series), or leave out --all and --json';
    throw new ServiceError('configuration', `--until-now sorts at most ${SORTED_MAX} records: ${remedy}`);
  };
  try {
    await readWholeTopic({ config: kafka }, watched.topic, (records) => {
      io.stop.throwIfAborted();
      return showRecords(records, watched, { io, show });
    });
  } catch (error) {
    if (!io.stop.aborted) throw error;
    io.err('Stopped before the end.');
  }
  shown.sort((a, b) => a.timeMs - b.timeMs);
  if (!json) io.out(watched.header);
  for (const { line } of shown) io.out(line);
  printIfAny(watched.summary(), io);
  return DONE;
}

interface Showing {
  readonly io: CommandIo;
  show(record: ShownRecord): void;
}

/** Rejects with `registry-unavailable` when a schema cannot be fetched. Reports and skips what is another record. */
async function showRecords(records: readonly TopicRecord[], { lineOf }: Watched, { io, show }: Showing): Promise<void> {
  for (const { value, partition, offset } of records) {
    if (io.stop.aborted) return;
    if (value === null) continue;
    try {
      const record = await lineOf(value);
      if (record !== null) show(record);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      io.err(`Skipped the record at partition ${partition}, offset ${offset}: ${reasonOf(error)}`);
    }
  }
}

function printIfAny(line: string | null, io: CommandIo): void {
  if (line !== null) io.err(line);
}
