import { groupKey } from '../changelog/changelog-series.ts';
import type { RecordDecoder } from '../codec/record-decoder.ts';
import type { InputRecord } from '../log/log.ts';
import type { Arrival } from './batch-outcome.ts';
import type { WatchedDetector } from './bound-detector.ts';
import type { PartitionState } from './partition-state.ts';
import type { PendingCommit } from './pending-commit.ts';

/** Longest key of an input record, which is the key of its score too. */
const KEY_BYTES_MAX = 4_096;

export interface Scoring {
  readonly decoder: RecordDecoder;
  readonly detectorOf: (series: string) => WatchedDetector | null;
  readonly groupPlaces: ReadonlyMap<string, number>;
  readonly nowMs: () => number;
}

type WatchedArrival = Arrival & { readonly watched: WatchedDetector };

/** From records to scores and dead letters in `pending`. Rejects when the registry or the model fails; then all is to be thrown away. */
export async function scoreRecords(
  records: readonly InputRecord[],
  state: PartitionState,
  pending: PendingCommit,
  scoring: Scoring,
  signal: AbortSignal,
): Promise<void> {
  await loadMissingSchemas(records, scoring);
  const nowMs = scoring.nowMs();
  const arrivals: WatchedArrival[] = [];
  for (const record of records) {
    const arrival = toArrival(record, pending, scoring, nowMs);
    if (arrival !== null) arrivals.push(arrival);
  }
  await state.score(arrivals, pending, signal);
  pending.consumed(records);
}

async function loadMissingSchemas(records: readonly InputRecord[], { decoder, nowMs }: Scoring): Promise<void> {
  const now = nowMs();
  const missing = new Set<number>();
  for (const { value } of records) {
    const schemaId = decoder.missingSchema(value, now);
    if (schemaId !== null) missing.add(schemaId);
  }
  if (missing.size > 0) await decoder.loadSchemas(missing, now);
}

/** null when the record went to the dead letters. */
function toArrival(
  record: InputRecord,
  pending: PendingCommit,
  { decoder, detectorOf, groupPlaces }: Scoring,
  nowMs: number,
): WatchedArrival | null {
  const unusable = whyKeyUnusable(record.key);
  if (unusable !== null) {
    pending.setAside(record, 'key-unusable', unusable, null, null);
    return null;
  }
  const decoded = decoder.decode(record.value, nowMs);
  if (decoded.kind === 'dead-letter') {
    const detector = decoded.series === null ? null : (detectorOf(decoded.series)?.config.name ?? null);
    pending.setAside(record, decoded.reason, decoded.detail, decoded.series, detector);
    return null;
  }
  const { series, group, timestampMs, value } = decoded;
  const watched = detectorOf(series);
  if (watched === null) {
    pending.setAside(record, 'series-unknown', `no detector watches series ${JSON.stringify(series)}`, series, null);
    return null;
  }
  if (group !== null) {
    const split = whySplit(record, group, groupPlaces.get(groupKey(watched.config.name, group)));
    if (split !== null) {
      pending.setAside(record, 'group-split', split, series, watched.config.name);
      return null;
    }
  }
  return { series, group, timestampMs, value, record, watched };
}

function whyKeyUnusable(key: Buffer | null): string | null {
  if (key === null) return null;
  if (key.length > KEY_BYTES_MAX) return `the key is ${key.length} bytes long, more than ${KEY_BYTES_MAX}`;
  // In an aborted transaction some clients take such a record for the marker of its end.
  return key.length === 4 && key.readInt32BE() === 0 ? 'the key is four zero bytes, which disturbs readers' : null;
}

/** Members of a group share a partition when the record's key is the group's id; what arrives elsewhere is never scored alone. */
function whySplit({ key, partition }: InputRecord, group: string, place: number | undefined): string | null {
  if (key === null || key.toString() !== group) {
    return `the record's key must be the group's id ${JSON.stringify(group)}, so that all members share a partition`;
  }
  if (place === undefined || place === partition) return null;
  return `group ${JSON.stringify(group)} lives on partition ${place}; this member arrived on partition ${partition}`;
}
