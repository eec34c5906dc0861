import { stdoutTakesColour } from '../config/colour.ts';
import { readFlags } from '../config/command-line.ts';
import { globPattern } from '../config/glob.ts';
import { boolean, text } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import { commandFlag, kafkaOptions, registryOptions, streamOptions, withDefault } from '../config/options.ts';
import { ServiceError } from '../service-error.ts';
import { reasonOf } from '../stream/codec/quoted.ts';
import { connectRegistry } from '../stream/codec/registry.ts';
import { createScoreDecoder, type DecodeScore } from '../stream/codec/score-decoder.ts';
import { type TopicRecord, tailTopic } from '../stream/log/kafka/topic-tail.ts';
import { aborted, type CommandIo, DONE, printProblems, type RunnableCommand } from './command.ts';
import { SCORE_LINE_STYLE, scoreLineHeader } from './score-line.ts';
import { ScoreView } from './score-view.ts';

const SUMMARY_MS = 1_000;

const ownFlags = {
  all: withDefault(
    commandFlag('all', boolean, 'every score (default: anomalies, and how many were scored between them)'),
    false,
  ),
  anomalies: withDefault(commandFlag('anomalies', boolean, 'anomalies alone'), false),
  series: commandFlag('series', text, 'only series that match: * is any run of characters, ? one'),
  fromBeginning: withDefault(commandFlag('from-beginning', boolean, 'also what was scored before'), false),
  json: withDefault(commandFlag('json', boolean, 'one JSON record a line; every score, but for --anomalies'), false),
};

/** Prints scores as they are committed, until it is stopped. */
export const watchCommand: RunnableCommand = {
  name: 'watch',
  summary: 'Shows the scores of the cluster of KAFKA_BROKERS as they are committed',
  options: [
    ...Object.values(ownFlags),
    ...Object.values(kafkaOptions),
    ...Object.values(registryOptions),
    streamOptions.detectors,
  ],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers']);
    const read = readFlags(flags, ownFlags);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    if (read.kind === 'problems') return printProblems(read.problems, io);
    const { all, anomalies, series, fromBeginning, json } = read.values;
    if (all && anomalies) return printProblems(['--all and --anomalies exclude each other'], io);
    const style = { ...SCORE_LINE_STYLE, colour: stdoutTakesColour() };
    const view = new ScoreView({
      selection: anomalies ? 'anomalies' : all || json ? 'all' : 'flagged',
      series: globPattern([series ?? '*']),
      json,
      style,
    });
    const { stream, kafka, registry: registryConfig } = loaded.config;
    const { format } = stream.output;
    const registry = format === 'avro' ? await connectRegistry(registryConfig!) : null;
    const decode = createScoreDecoder(format, registry);
    const summary = setInterval(() => printIfAny(view.summary(), io), SUMMARY_MS);
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    failed.catch(() => {});
    try {
      const from = fromBeginning ? 'earliest' : 'latest';
      const tail = await tailTopic(
        { config: kafka! },
        { topic: stream.topics.scores, from },
        {
          onRecords: (records) => showRecords(records, { decode, view }, io).catch(fail),
          onConnection: (error) =>
            io.err(error === null ? 'Kafka is back.' : `${error.message}; the watch continues when it is back.`),
        },
      );
      if (!json) io.out(scoreLineHeader(style));
      await Promise.race([aborted(io.stop), failed]).finally(() => tail.stop());
      printIfAny(view.summary(), io);
      return DONE;
    } finally {
      clearInterval(summary);
      await registry?.close();
    }
  },
};

/** Rejects with `registry-unavailable` when a schema cannot be fetched. Reports and skips a record that is no score. */
async function showRecords(
  records: readonly TopicRecord[],
  { decode, view }: { readonly decode: DecodeScore; readonly view: ScoreView },
  io: CommandIo,
): Promise<void> {
  for (const { value, partition, offset } of records) {
    if (io.stop.aborted) return;
    if (value === null) continue;
    try {
      const line = view.show(await decode(value));
      if (line !== null) io.out(line);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      io.err(`Left out the record at partition ${partition}, offset ${offset}: ${reasonOf(error)}`);
    }
  }
}

function printIfAny(line: string | null, io: CommandIo): void {
  if (line !== null) io.err(line);
}
