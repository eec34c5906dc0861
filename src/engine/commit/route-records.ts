import { hasValue } from '../../codecs/formats/wire-header.ts';
import type { PointRecords } from '../../codecs/points/point-records.ts';
import type { InputRecord } from '../log/log.ts';
import type { PendingCommit } from './pending-commit.ts';
import { type DecodingOptions, loadMissingSchemas, recordFailed, whySkipped } from './score-records.ts';

/** Place where records go that are rekeyed. */
export interface RecordRoute {
  readonly topic: string;
  readonly partitions: number;
  readonly partitionOf: (key: Buffer) => number;
}

/** Headers of a record that each of its points gets, too. Larger ones are omitted. */
const SPLIT_HEADERS_BYTES_MAX = 1_024;

interface Routing {
  readonly pending: PendingCommit;
  readonly scoring: Pick<DecodingOptions, 'decoder' | 'splitter' | 'nowMs'>;
  readonly route: RecordRoute;
  /** As in `ScoringContext`. */
  readonly whyFailed?: (offset: number) => string | null;
}

/**
 * Passes records on under the id of their series, or of their group. Value, timestamp and headers stay as they are.
 * Records whose series cannot be read keep their keys: whoever scores them finds why they are dead letters. A record
 * that may hold many observations becomes one record for each.
 */
export async function routeRecords(
  records: readonly InputRecord[],
  { pending, scoring, route, whyFailed }: Routing,
): Promise<void> {
  const { decoder, splitter } = scoring;
  await loadMissingSchemas(records, { decoder: splitter ?? decoder, nowMs: scoring.nowMs });
  const nowMs = scoring.nowMs();
  for (const record of records) {
    const failure = whyFailed?.(record.offset) ?? null;
    if (record.skipped !== undefined) pending.deadLetter(record, whySkipped(record.skipped));
    else if (failure !== null) pending.deadLetter(record, recordFailed(failure));
    else if (!hasValue(record)) pending.counters.withoutValue();
    else if (splitter !== null) {
      const split = splitter.split(record, nowMs);
      if (split.kind === 'dead-letter') pending.deadLetter(record, split);
      else passSplit(record, split, { pending, route });
    } else {
      const decoded = decoder.decode(record, nowMs);
      const id = decoded.kind === 'observation' ? (decoded.group ?? decoded.series) : decoded.series;
      const key = id === null ? record.key : Buffer.from(id);
      const partition = key === null ? record.partition % route.partitions : route.partitionOf(key);
      pending.forward(record, { topic: route.topic, partition, key });
    }
  }
  pending.consumed(records);
}

/** Unusable parts of a record become one dead letter with the whole record, even if its other parts are used. */
function passSplit(record: InputRecord, split: PointRecords, { pending, route }: Pick<Routing, 'pending' | 'route'>) {
  pending.pointsTaken(split);
  const { rawHeaders, ...bare } = record;
  const each = rawHeaders !== undefined && rawHeaders.length <= SPLIT_HEADERS_BYTES_MAX ? record : bare;
  for (const { key, value } of split.records) {
    pending.forward({ ...each, value }, { topic: route.topic, partition: route.partitionOf(key), key });
  }
  const { records, unwatched, refused, reasons } = split;
  if (refused === 0) return;
  const others = records.length + unwatched;
  const detail = `${refused} of ${refused + others} points cannot be used: ${reasons.join('; ')}`;
  pending.deadLetter(record, { reason: 'points-refused', detail });
}
