import type { DecodeEvent } from '../../../codecs/event-codec.ts';
import type { DecodeIncident } from '../../../codecs/incident-codec.ts';
import type { DecodeScore } from '../../../codecs/score-decoder.ts';
import type { IncidentRevision, KeptDeadLetter, KeptEvent, KeptScore } from '../../../history/port/history-port.ts';
import type { TopicRecord } from '../../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../../ops/service-error.ts';

/** Rejects when a schema cannot be fetched; the records are read again then. */
export function keptScores(records: readonly TopicRecord[], decode: DecodeScore): Promise<KeptScore[]> {
  // Fields one by one: there are tens of thousands of records a second, and spreads take longer than parsing them.
  return readEach(records, async (value, { partition, offset }) => {
    const score = await decode(value);
    return {
      partition,
      offset,
      series: score.series,
      detector: score.detector,
      group: score.group,
      timestampMs: score.timestampMs,
      value: score.value,
      forecast: score.forecast,
      lo: score.lo,
      hi: score.hi,
      anomalyScore: score.anomalyScore,
      grade: score.grade,
      severity: score.severity,
      alarm: score.alarm,
      anomaly: score.anomaly,
      state: score.state,
    };
  });
}

export function keptEvents(records: readonly TopicRecord[], decode: DecodeEvent): Promise<KeptEvent[]> {
  return readEach(records, async (value, { partition, offset }) => {
    return { partition, offset, event: await decode(value) };
  });
}

export function keptIncidents(records: readonly TopicRecord[], decode: DecodeIncident): Promise<IncidentRevision[]> {
  return readEach(records, async (value, { partition, offset }) => {
    return { partition, offset, incident: await decode(value) };
  });
}

export function keptLetters(records: readonly TopicRecord[]): Promise<KeptDeadLetter[]> {
  return readEach(records, async (value, { partition, offset }) => {
    const record = value.toString();
    const { reason, atMs } = JSON.parse(record) as { readonly reason: unknown; readonly atMs: unknown };
    if (typeof reason !== 'string' || typeof atMs !== 'number') throw new Error('not a dead letter');
    return { partition, offset, reason, atMs, record };
  });
}

/** Records that can be read: other programs may write to a topic. */
async function readEach<T>(
  records: readonly TopicRecord[],
  read: (value: Buffer, record: TopicRecord) => Promise<T>,
): Promise<T[]> {
  const kept: T[] = [];
  for (const record of records) {
    if (record.value === null) continue;
    try {
      kept.push(await read(record.value, record));
    } catch (error) {
      if (error instanceof ServiceError) throw error;
    }
  }
  return kept;
}
