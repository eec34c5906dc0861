import { setTimeout } from 'node:timers/promises';
import { compileObservationWriter } from '../../../codecs/observations/observation-writer.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { commandFlag, switchFlag } from '../../../config/options/option.ts';
import { kafkaOptions, streamOptions } from '../../../config/options/options.ts';
import { integerFrom } from '../../../config/schema/kinds.ts';
import { feedDemo, prepareDemo } from '../../../demo/run-demo.ts';
import { type KeptTimes, keptTimes, keptTimesText } from '../../../engine/topics/kept-times.ts';
import { detectorsOfStream, extrasFor } from '../../../engine/unit/loaded-detector.ts';
import { describeCluster } from '../../../kafka/admin/describe-cluster.ts';
import { type BulkProducer, openBulkProducer, type ProducerRecord } from '../../../kafka/produce/bulk-producer.ts';
import { diagnosticText } from '../../../records/diagnostics/diagnostic.ts';
import { csvFlags, csvReading } from '../../../tools/csv/flags.ts';
import { openInput, STANDARD_INPUT } from '../../../tools/csv/input.ts';
import { type CsvPull, pullObservations, readObservations } from '../../../tools/csv/observations.ts';
import { aborted, type CommandIo, DONE, type ExitCode, FAILED, WRONG_USE } from '../../../tools/terminal/command-io.ts';
import { Progress, shareText } from '../../../tools/terminal/progress.ts';
import { formatTime } from '../../../tools/terminal/score-line.ts';
import { command, exitCodeOf, printProblems } from '../command.ts';
import { newestWritten, SentSteps } from './sent-steps.ts';

/** Records of one send. With `--rate` a batch holds a tenth of a second. */
const BATCH_RECORDS_MAX = 1_000;
const BATCHES_PER_SECOND = 10;
const PROGRESS_MS = 5_000;

/** Path of the group's id without a detectors file. */
const GROUP_PATH = 'group';

const own = {
  ...csvFlags,
  demo: switchFlag('demo', "instead of FILE: the demo's series, first their history, then a step a second"),
  rate: commandFlag('rate', integerFrom(1, 1_000_000), 'observations a second (default: as fast as possible)'),
};

/** Writes the observations of a CSV file to Kafka, in the layout that the detectors file maps. */
export const feedCommand = command({
  operands: ['[FILE]'],
  own,
  settings: { ...kafkaOptions, detectors: streamOptions.detectors },
  requires: ['brokers'],
  async run({ operands: [path], values, config: { stream, kafka } }, io) {
    const connection = { config: kafka };
    if (stream.input.values !== undefined) {
      io.err('feed writes one value a record, but the detectors file reads several (input.values).');
      return WRONG_USE;
    }
    if (stream.input.format !== 'json') {
      io.err(`feed writes JSON, but the detectors file reads ${stream.input.format} (input.format).`);
      return WRONG_USE;
    }
    const { group = null, rate = Number.POSITIVE_INFINITY, demo } = values;
    if (demo === (path !== undefined)) return printProblems(['give one of FILE and --demo'], io);
    const topic = stream.topics.observations;
    io.err(`Writes to ${topic} of ${await describeCluster(connection)}`);
    if (path === undefined) return writeDemo({ stream, kafka }, io);
    const { bytes, share } = await openInput(path, io.stop);
    try {
      const olderMsMax = Math.max(0, ...stream.detectors.map(({ settings }) => settings.latenessMs));
      const live = path === STANDARD_INPUT ? { olderMsMax } : undefined;
      let rows: number | null = null;
      const onRead = (count: number) => {
        rows = count;
      };
      const reading = { ...csvReading(path, values), live, onRead };
      const pull = pullObservations(readObservations(bytes, reading), io.err);
      const producer = await openBulkProducer(connection, topic);
      try {
        const steps = new SentSteps(stream.detectors, await newestWritten(connection, stream));
        const kept = await keptTimes(connection, stream);
        const code = await send(
          recordsOf(pull, stream, group),
          { pull, producer, rate, topic, steps, kept, share: (sent) => (rows === null ? share() : sent / rows) },
          io,
        );
        const repeated = steps.repeatedText(topic);
        if (repeated !== null) io.err(repeated);
        for (const diagnostic of steps.diagnostics()) io.err(diagnosticText(diagnostic, 'file'));
        return code;
      } finally {
        await producer.close();
      }
    } finally {
      bytes.destroy();
    }
  },
});

/** Writes the demo's series until it is stopped. */
async function writeDemo(config: Parameters<typeof prepareDemo>[0], io: CommandIo): Promise<ExitCode> {
  const feed = await feedDemo({ config, plan: await prepareDemo(config) });
  const failure = await Promise.race([feed.failed, aborted(io.stop)]);
  await feed.stop();
  if (failure) io.err(`The demo cannot be written: ${failure.message}`);
  return failure ? FAILED : DONE;
}

interface Outgoing {
  readonly record: ProducerRecord;
  readonly series: string;
  readonly timestampMs: number;
}

async function* recordsOf(
  { observations, refusals }: CsvPull,
  { input, detectors }: LoadedConfig['stream'],
  group: string | null,
): AsyncGenerator<Outgoing> {
  const { detectorOf, groupSourceOf } = detectorsOfStream({ detectors, input });
  const isWatched = (series: string) => detectors.length === 0 || detectorOf(series) !== null;
  const write = compileObservationWriter(input, (series) => {
    if (detectors.length === 0) return group === null ? null : GROUP_PATH;
    return groupSourceOf(series);
  });
  for await (const { line, series, timestampMs, value, extras } of observations) {
    if (!isWatched(series)) {
      refusals.add(line, `no detector watches series ${JSON.stringify(series)}`);
      continue;
    }
    const bound = detectorOf(series);
    const problem = bound === null ? undefined : extrasFor(bound, extras)?.problem;
    if (problem !== undefined) {
      refusals.add(line, problem);
      continue;
    }
    const written = write({ series, group, timestampMs, value, extras }, Date.now());
    if (written.kind === 'refused') refusals.add(line, written.reason);
    else yield { record: { key: written.key, value: written.value }, series, timestampMs };
  }
}

interface Sending {
  readonly pull: CsvPull;
  readonly producer: BulkProducer;
  readonly rate: number;
  readonly topic: string;
  readonly steps: SentSteps;
  readonly kept: KeptTimes | null;
  /** Share of the file that was sent; null if it is not known. */
  share(sent: number): number | null;
}

/**
 * Sends in batches, at most `rate` records a second, until the file ends or the command is stopped. Prints a summary.
 */
async function send(
  records: AsyncIterable<Outgoing>,
  { pull, producer, rate, topic, steps, kept, share }: Sending,
  io: CommandIo,
): Promise<ExitCode> {
  const { refusals, problems } = pull;
  const sent = new SentRecords();
  const batchMax = Math.max(1, Math.min(BATCH_RECORDS_MAX, Math.ceil(rate / BATCHES_PER_SECOND)));
  const startedMs = performance.now();
  const progress = new Progress(io);
  let progressMs = startedMs;
  let oldMs = kept === null ? Number.NEGATIVE_INFINITY : Date.now() - kept.keptMs;
  try {
    for await (const batch of inBatches(records, batchMax)) {
      const aheadMs = (sent.count / rate) * 1_000 - (performance.now() - startedMs);
      if (aheadMs > 0) await setTimeout(aheadMs, null, { signal: io.stop });
      if (kept !== null && batch.some(({ timestampMs }) => timestampMs < oldMs)) {
        io.err(keptTimesText(kept));
        oldMs = Number.NEGATIVE_INFINITY;
      }
      await producer.send(batch.map(({ record }) => record));
      sent.add(batch);
      for (const { series, timestampMs } of batch) steps.add(series, timestampMs);
      const text = `${sent.count} observations, up to ${formatTime(sent.lastMs)}`;
      const part = share(sent.count);
      progress.show('writing', part, text);
      if (io.status !== undefined || performance.now() - progressMs < PROGRESS_MS) continue;
      progressMs = performance.now();
      io.err(part === null ? text : `${shareText(part)} of the file: ${text}`);
    }
  } catch (error) {
    if (!io.stop.aborted) throw error;
    io.err('Stopped before the end of the file.');
  } finally {
    progress.end();
    io.err(sent.summary(topic, (performance.now() - startedMs) / 1_000));
    for (const line of [...refusals.lines(), ...problems]) io.err(line);
  }
  return exitCodeOf(pull);
}

/** Distinct series that are counted exactly, and whose steps are checked. */
const SERIES_COUNTED_MAX = 100_000;

class SentRecords {
  count = 0;
  lastMs = Number.NEGATIVE_INFINITY;
  #firstMs = Number.POSITIVE_INFINITY;
  readonly #series = new Set<string>();

  add(records: readonly Outgoing[]): void {
    this.count += records.length;
    for (const { series, timestampMs } of records) {
      if (this.#series.size < SERIES_COUNTED_MAX) this.#series.add(series);
      this.#firstMs = Math.min(this.#firstMs, timestampMs);
      this.lastMs = Math.max(this.lastMs, timestampMs);
    }
  }

  summary(topic: string, seconds: number): string {
    if (this.count === 0) return `Nothing was written to ${topic}.`;
    const series = this.#series.size < SERIES_COUNTED_MAX ? `${this.#series.size}` : `${SERIES_COUNTED_MAX} or more`;
    const times = `${formatTime(this.#firstMs)} to ${formatTime(this.lastMs)}`;
    return `${this.count} observations of ${series} series, ${times}, written to ${topic} in ${seconds.toFixed(1)} s`;
  }
}

/**
 * Items in batches of at most `max`. A batch ends early when the next item is not available yet, or failed.
 */
async function* inBatches<T>(items: AsyncIterable<T>, max: number): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  let batch: T[] = [];
  for (;;) {
    const next = iterator.next();
    // It is handled when it is awaited, perhaps a batch later.
    next.catch(() => {});
    if (batch.length >= max || (batch.length > 0 && !(await isAvailable(next)))) {
      yield batch;
      batch = [];
    }
    const item = await next;
    if (item.done === true) break;
    batch.push(item.value);
  }
  if (batch.length > 0) yield batch;
}

function isAvailable(next: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  const item = next.then(
    () => true,
    () => false,
  );
  return Promise.race([item, turn]);
}
