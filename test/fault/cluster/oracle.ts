import { resolveWithModels } from '../../../src/app/processes/run-worker.ts';
import { createEventEncoder } from '../../../src/codecs/event-codec.ts';
import { createScoreEncoder } from '../../../src/codecs/score-encoder.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { loadDetector, pretrainedModels } from '../../../src/engine/detector-models.ts';
import type { InputRecord, OutputRecord, StreamLog, SubscriptionHandlers } from '../../../src/engine/log/log.ts';
import { startWorker, type WorkerOptions } from '../../../src/engine/stream-worker.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';

export interface Oracle {
  /** Records of any partition, in offset order. */
  take(partition: number, records: readonly InputRecord[]): void;
  /** The offset that everything before it is scored of. */
  position(partition: number): number;
  close(): Promise<void>;
}

export interface OracleOptions {
  /** Text of the detectors file that the workers have. */
  readonly detectors: string;
  readonly partitions: number;
  readonly onOutputs: (outputs: readonly OutputRecord[]) => void;
}

/** What a worker makes of the text of a detectors file, with the models that it names. */
export async function loadedStream(text: string) {
  const flags = { brokers: undefined, detectors: 'detectors.yaml' };
  const env = { KAFKA_BROKERS: '127.0.0.1:9', DETECTORS: 'detectors.yaml', INFERENCE_THREADS: '1' };
  const readFile = () => text;
  const loaded = loadConfig({ flags, env, readFile, processors: 1, requires: ['detectors'] });
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const { models, result } = await resolveWithModels(loaded.config);
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems));
  const { stream, worker: limits } = result.config;
  const forecasters = await Forecasters.start(pretrainedModels(stream.detectors, models), { threads: 1 });
  const detectors = stream.detectors.map((detector) =>
    loadDetector(detector, models, (...asked) => forecasters.forecasterFor(...asked)),
  );
  return { stream, limits, detectors, forecasters };
}

/** The same engine, without Kafka and without faults: every record once, in order. */
export async function startOracle({ detectors: text, partitions, onOutputs }: OracleOptions): Promise<Oracle> {
  const { stream, limits, detectors, forecasters } = await loadedStream(text);
  const positions = new Map<number, number>();
  const { log, deliver } = oracleLog(partitions, onOutputs, (partition, offset) => positions.set(partition, offset));
  const worker = await startWorker({
    log,
    stream,
    limits,
    detectors,
    encodeScore: await createScoreEncoder('json', { topic: stream.topics.scores, registrar: null }),
    encodeEvent: await createEventEncoder('json', { topic: stream.topics.events, registrar: null }),
    schemas: null,
    reports: silent(),
    nowMs: Date.now,
  });
  void worker.finished.then((error) => {
    if (error !== null) throw error;
  });
  return {
    take: deliver,
    position: (partition) => positions.get(partition) ?? 0,
    close: async () => {
      await worker.stop();
      await forecasters.close();
    },
  };
}

function oracleLog(
  partitions: number,
  onOutputs: OracleOptions['onOutputs'],
  onCommitted: (partition: number, offset: number) => void,
) {
  let handlers: SubscriptionHandlers | null = null;
  const waiting = Array.from({ length: partitions }, (): InputRecord[][] => []);
  const held = new Set(Array.from({ length: partitions }, (_, partition) => partition));
  const flush = (partition: number) => {
    while (!held.has(partition)) {
      const records = waiting[partition].shift();
      if (records === undefined) return;
      handlers?.onRecords(partition, records, (records.at(-1)?.offset ?? -1) + 1);
    }
  };
  const release = (partition: number) => {
    held.delete(partition);
    setImmediate(flush, partition);
  };
  const log: StreamLog = {
    delayedBy: () => null,
    partitionCount: async () => partitions,
    subscribe: async (given) => {
      handlers = given;
      setImmediate(() => given.onAssignment([...held]));
      return {
        start: release,
        resume: release,
        pause: (partition) => void held.add(partition),
        end: () => null,
        confirm: async () => undefined,
        stop: async () => undefined,
      };
    },
    openPartition: async (partition) => ({
      partition,
      committedOffset: null,
      inputTopicId: null,
      oldestOffset: async () => 0,
      readInput: async () => [],
      readChangelog: async () => undefined,
      commit: async (outputs, nextOffset) => {
        onOutputs(outputs);
        onCommitted(partition, nextOffset);
      },
      close: async () => undefined,
    }),
    close: async () => undefined,
  };
  const deliver = (partition: number, records: readonly InputRecord[]) => {
    waiting[partition].push([...records]);
    flush(partition);
  };
  return { log, deliver };
}

/** Listens to nothing, whatever is reported. */
function silent(): WorkerOptions['reports'] {
  return new Proxy({} as WorkerOptions['reports'], { get: () => () => undefined });
}
