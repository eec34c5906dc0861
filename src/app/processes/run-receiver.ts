import { setTimeout } from 'node:timers/promises';
import { type BulkProducer, openBulkProducer } from '../../kafka/produce/bulk-producer.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { type RecordsOfBody, recordsOfBodies } from '../../pipelines/receive/received-records.ts';
import { SendQueue } from '../../pipelines/receive/send-queue.ts';
import type { ReceivePoints } from '../../records/received-points.ts';
import { followPointWriter, type PointWriterOptions } from './point-writer.ts';

/** Bytes of records that wait for Kafka or are being sent; beyond it senders get 503 and come back. */
const RECEIVED_BYTES_MAX = 64 * 1024 * 1024;

/** Interval of probes of Kafka, and the time of an answer. */
const [PROBE_MS, PROBE_MS_MAX] = [2_000, 5_000];

export interface RunningReceiver {
  readonly receivePoints: ReceivePoints;
  /** Why points cannot be written now; empty if they can. */
  reasonsNotReady(): readonly string[];
  /** Resolves when all accepted points are written. */
  stop(): Promise<void>;
}

interface ReceiverOptions extends PointWriterOptions {
  readonly metrics: Pick<Metrics, 'pointsReceived' | 'brokerConnected'>;
}

/** Writes received points to the input topic: where there are detectors, those they watch. Throws a ServiceError. */
export async function runReceiver(options: ReceiverOptions): Promise<RunningReceiver> {
  const { config, kafka, metrics } = options;
  const { topics } = config.stream;
  const producer = await openBulkProducer({ config: kafka }, topics.observations);
  let away: Error | null = null;
  const report = (error: Error | null) => {
    away = error;
    metrics.brokerConnected.set(error === null ? 1 : 0);
  };
  report(null);
  const reported = async (work: Promise<void>) => {
    try {
      await work;
      report(null);
    } catch (error) {
      report(error as Error);
      throw error;
    }
  };
  const queue = new SendQueue({ send: (records) => reported(sent(producer, records)), bytesMax: RECEIVED_BYTES_MAX });
  let probing = false;
  const probe = async () => {
    if (probing) return;
    probing = true;
    await reported(answered(producer)).catch(() => null);
    probing = false;
  };
  const probes = setInterval(() => void probe(), PROBE_MS);
  let recordsOf!: RecordsOfBody;
  const unfollow = followPointWriter(options, (writer) => {
    recordsOf = recordsOfBodies(writer);
  });
  return {
    async receivePoints(body) {
      const found = recordsOf(body, Date.now());
      if (found.kind === 'unreadable') return found;
      const { records, unwatched, missing, refused, reasons, histograms } = found;
      await queue.add(records);
      const count = (outcome: string, points: number) =>
        metrics.pointsReceived.inc({ format: body.format, outcome }, points);
      count('accepted', records.length);
      count('unwatched', unwatched);
      count('refused', refused);
      const counts = { accepted: records.length, unwatched, missing, refused, ...(histograms && { histograms }) };
      return { kind: 'received', ...counts, reasons };
    },
    reasonsNotReady: () => (away === null ? [] : [`Kafka cannot be reached: ${away.message}`]),
    async stop() {
      unfollow();
      clearInterval(probes);
      await queue.settled();
      await producer.close();
    },
  };
}

async function answered(producer: BulkProducer): Promise<void> {
  const late = new AbortController();
  const tooLate = setTimeout(PROBE_MS_MAX, null, { signal: late.signal }).then(() => {
    throw new ServiceError('broker-unavailable', 'no broker answers', { retryable: true });
  });
  await Promise.race([producer.check(), tooLate]).finally(() => late.abort());
}

async function sent(producer: BulkProducer, records: Parameters<BulkProducer['send']>[0]): Promise<void> {
  try {
    await producer.send(records);
  } catch (error) {
    // Whatever it is: the sender has the points, and a repeated one is a duplicate of its time step.
    const text = `Kafka did not accept the points: ${(error as Error).message}`;
    throw new ServiceError('broker-unavailable', text, { retryable: true, cause: error });
  }
}
