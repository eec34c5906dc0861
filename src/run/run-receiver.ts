import type { KafkaConfig, LoadedConfig } from '../config/config.ts';
import type { Flags } from '../config/given-options.ts';
import { type CommandFallbacks, loadProcessConfig } from '../config/load.ts';
import { type RecordsOfBody, recordsOfBodies } from '../ingest/received-records.ts';
import { SendQueue } from '../ingest/send-queue.ts';
import { type BulkProducer, openBulkProducer } from '../kafka/produce/bulk-producer.ts';
import type { ReceivePoints } from '../record/received-points.ts';
import { ServiceError } from '../service-error.ts';
import { matchDetectors } from '../stream/engine/unit/bound-detector.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { newestSaved } from './newest-detectors.ts';

/** Bytes of records that wait for Kafka or are being sent; beyond it senders get 503 and come back. */
export const RECEIVED_BYTES_MAX = 64 * 1024 * 1024;
/** How often the detectors are looked at: those that were saved, or the file. */
const LOOK_MS = 10_000;

export interface RunningReceiver {
  readonly receivePoints: ReceivePoints;
  /** What was accepted is written when this resolves. */
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  readonly config: Pick<LoadedConfig, 'stream' | 'detectorsTopic'>;
  readonly kafka: KafkaConfig;
  readonly flags: Flags;
  /** The command's own detectors file, where none is named. */
  readonly fallbacks?: CommandFallbacks;
  readonly metrics: Pick<Metrics, 'pointsReceived'>;
  readonly logger: Logger;
}

/** Writes received points to the input topic: where there are detectors, those they watch. Throws a ServiceError. */
export async function runReceiver(options: ReceiverOptions): Promise<RunningReceiver> {
  const { config, kafka, flags, fallbacks, metrics, logger } = options;
  const { topics } = config.stream;
  const producer = await openBulkProducer({ config: kafka }, topics.observations);
  const queue = new SendQueue({ send: (records) => sent(producer, records), bytesMax: RECEIVED_BYTES_MAX });
  let recordsOf = recordsWith(config.stream);
  let version = 0;
  const look = async () => {
    const saved = await newestSaved(kafka, config.detectorsTopic);
    const loaded = loadProcessConfig(flags, [], { ...fallbacks, detectorsText: saved?.text ?? null });
    if (loaded.kind === 'problems') {
      logger.warn({ problems: loaded.problems }, 'the detectors changed and cannot be used');
      return;
    }
    if ((saved?.version ?? 0) < version) return;
    version = saved?.version ?? 0;
    recordsOf = recordsWith(loaded.config.stream);
  };
  const timer = setInterval(() => {
    look().catch((err: unknown) => logger.warn({ err }, 'the detectors could not be looked at'));
  }, LOOK_MS);
  return {
    async receivePoints(body) {
      const found = recordsOf(body, Date.now());
      if (found.kind === 'unreadable') return found;
      const { records, unwatched, refused, reasons } = found;
      await queue.add(records);
      const count = (outcome: string, points: number) =>
        metrics.pointsReceived.inc({ format: body.format, outcome }, points);
      count('accepted', records.length);
      count('unwatched', unwatched);
      count('refused', refused);
      return { kind: 'received', accepted: records.length, unwatched, refused, reasons };
    },
    async stop() {
      clearInterval(timer);
      await queue.settled();
      await producer.close();
    },
  };
}

async function sent(producer: BulkProducer, records: Parameters<BulkProducer['send']>[0]): Promise<void> {
  try {
    await producer.send(records);
  } catch (error) {
    // Whatever it is: the sender has the points, and a repeated one is a duplicate of its time step.
    const text = `Kafka did not take the points: ${(error as Error).message}`;
    throw new ServiceError('broker-unavailable', text, { retryable: true, cause: error });
  }
}

function recordsWith({ input: mapping, detectors }: LoadedConfig['stream']): RecordsOfBody {
  const detectorOf = matchDetectors(detectors.map((config) => ({ config })));
  const groupPathOf = (series: string) => {
    if (detectors.length === 0) return null;
    const found = detectorOf(series);
    return found === null ? 'unwatched' : found.config.group;
  };
  return recordsOfBodies({ mapping, groupPathOf });
}
