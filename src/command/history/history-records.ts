import type { KeptDeadLetter, KeptEvent, KeptScore } from '../../history/history-port.ts';
import type { DecodeEvent } from '../../stream/codec/event-codec.ts';
import type { DecodeScore } from '../../stream/codec/score-decoder.ts';
import type { TopicRecord } from '../../stream/log/kafka/topic-tail.ts';

/** Records that could be read, and how many could not: other programs may write to a topic. */
export interface ReadRecords<T> {
  readonly kept: readonly T[];
  readonly unreadable: number;
}

/** Rejects when a schema cannot be fetched; the records are read again then. */
export function keptScores(records: readonly TopicRecord[], decode: DecodeScore): Promise<ReadRecords<KeptScore>> {
  return readEach(records, async (value, { partition, offset }) => {
    const { series, detector, group, timestampMs, forecast, lo, hi, ...score } = await decode(value);
    const { anomalyScore, grade, severity, alarm, anomaly, state } = score;
    const place = { partition, offset, series, detector, group, timestampMs };
    const numbers = { value: score.value, forecast, lo, hi, anomalyScore, grade, severity };
    return { ...place, ...numbers, alarm, anomaly, state };
  });
}

export function keptEvents(records: readonly TopicRecord[], decode: DecodeEvent): Promise<ReadRecords<KeptEvent>> {
  return readEach(records, async (value, { partition, offset }) => {
    return { partition, offset, event: await decode(value) };
  });
}

export function keptLetters(records: readonly TopicRecord[]): Promise<ReadRecords<KeptDeadLetter>> {
  return readEach(records, async (value, { partition, offset }) => {
    const record = value.toString();
    const { reason, atMs } = JSON.parse(record) as { readonly reason: unknown; readonly atMs: unknown };
    if (typeof reason !== 'string' || typeof atMs !== 'number') throw new Error('not a dead letter');
    return { partition, offset, reason, atMs, record };
  });
}

async function readEach<T>(
  records: readonly TopicRecord[],
  read: (value: Buffer, record: TopicRecord) => Promise<T>,
): Promise<ReadRecords<T>> {
  const results = await Promise.allSettled(
    records.flatMap((record) => (record.value === null ? [] : [read(record.value, record)])),
  );
  const failures = results.filter((result) => result.status === 'rejected');
  const unavailable = failures.find(({ reason }) => (reason as { code?: string }).code === 'registry-unavailable');
  if (unavailable !== undefined) throw unavailable.reason;
  const kept = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return { kept, unreadable: failures.length };
}
