import { groupKey } from '../../checkpoint/delta-log.ts';
import { hasValue, type SchemaKey, withoutSchemaHeaders } from '../../codecs/formats/wire-header.ts';
import type { RecordDecoder } from '../../codecs/observations/record-decoder.ts';
import type { RecordSplitter } from '../../codecs/points/record-splitter.ts';
import type { RoutedObservation } from '../arrival/routed-observation.ts';
import type { InputRecord, SkippedRange } from '../log/log.ts';
import type { PartitionState } from '../state/partition-state.ts';
import { extrasFor, type LoadedDetector } from '../unit/loaded-detector.ts';
import type { DeadLetterCause } from '../unit/score-sink.ts';
import type { PendingCommit } from './pending-commit.ts';

/**
 * Dead letters `series-unknown` of a partition, from one assignment to the next. A wrong glob makes one of each record,
 * and the records stay in the input.
 */
export const UNKNOWN_LETTERS_MAX = 100;

/** Longest key of an input record. It is the key of the score as well. */
const KEY_BYTES_MAX = 4_096;

export interface DecodingOptions {
  readonly decoder: RecordDecoder;
  /** Set where records may hold many observations, and are passed on one by one. */
  readonly splitter: RecordSplitter | null;
  readonly detectorOf: (series: string) => LoadedDetector | null;
  readonly places: ReadonlyMap<string, number>;
  readonly nowMs: () => number;
}

interface DecodingContext {
  readonly state: PartitionState;
  readonly scoring: DecodingOptions;
  /** Reason why a record is a dead letter although it can be read; null if it is none. By offset. */
  readonly whyFailed?: (offset: number) => string | null;
}

interface ScoringContext {
  readonly state: PartitionState;
  readonly pending: PendingCommit;
  readonly signal: AbortSignal;
}

/** Records that were read, and have changed nothing so far. */
export interface DecodedRecords {
  readonly records: readonly InputRecord[];
  readonly observations: readonly RoutedObservation[];
  readonly refused: readonly { readonly record: InputRecord; readonly cause: DeadLetterCause }[];
  readonly withoutValue: number;
}

/** Rejects when the registry fails. */
export async function toObservations(
  records: readonly InputRecord[],
  context: DecodingContext,
): Promise<DecodedRecords> {
  const { scoring, whyFailed } = context;
  await loadMissingSchemas(records, scoring);
  const nowMs = scoring.nowMs();
  const observations: RoutedObservation[] = [];
  const refused: { record: InputRecord; cause: DeadLetterCause }[] = [];
  let withoutValue = 0;
  for (const record of records) {
    const failure = whyFailed?.(record.offset) ?? null;
    const observation = failure === null ? toObservation(record, context, nowMs) : recordFailed(failure);
    if (observation === 'without-value') withoutValue++;
    else if ('reason' in observation) refused.push({ record, cause: observation });
    else observations.push(observation);
  }
  return { records, observations, refused, withoutValue };
}

/** In two: what was decoded of the first `count` records, and of those behind them. */
export function divideDecoded(
  { records, observations, refused, withoutValue }: DecodedRecords,
  count: number,
): readonly [DecodedRecords, DecodedRecords] {
  const end = records[count]?.offset ?? Number.POSITIVE_INFINITY;
  const isFirst = ({ record }: { readonly record: InputRecord }) => record.offset < end;
  const [observed, letters] = [observations.filter(isFirst), refused.filter(isFirst)];
  const without = count - observed.length - letters.length;
  return [
    { records: records.slice(0, count), observations: observed, refused: letters, withoutValue: without },
    {
      records: records.slice(count),
      observations: observations.slice(observed.length),
      refused: refused.slice(letters.length),
      withoutValue: withoutValue - without,
    },
  ];
}

/**
 * Scores what was decoded in this state. Rejects when the model fails, or `signal` aborts. Then `state` and `pending`
 * must be discarded.
 */
export async function scoreDecoded(
  { records, observations, refused, withoutValue }: DecodedRecords,
  { state, pending, signal }: ScoringContext,
): Promise<void> {
  for (let times = withoutValue; times > 0; times--) pending.counters.withoutValue();
  for (const { record, cause } of refused) {
    const unknown = cause.reason === 'series-unknown' ? ++state.unknownRecords : 0;
    const isLast = unknown === UNKNOWN_LETTERS_MAX;
    const detail = isLast ? `${cause.detail}; further ones of this partition are only counted` : cause.detail;
    pending.deadLetter(record, { ...cause, detail, isCountedOnly: unknown > UNKNOWN_LETTERS_MAX });
  }
  await state.score(observations, pending, signal);
  pending.consumed(records);
  pending.watermark = state.watermark.state;
}

interface SchemaNeed {
  readonly decoder: Pick<RecordDecoder, 'missingSchema' | 'loadSchemas'>;
  readonly nowMs: () => number;
}

export async function loadMissingSchemas(
  records: readonly InputRecord[],
  { decoder, nowMs }: SchemaNeed,
): Promise<void> {
  const now = nowMs();
  const missing = new Set<SchemaKey>();
  for (const record of records) {
    const schema = hasValue(record) ? decoder.missingSchema(record, now) : null;
    if (schema !== null) missing.add(schema);
  }
  if (missing.size > 0) await decoder.loadSchemas(missing, now);
}

/** Returns the observation of a record with its detector, that it has no value, or why it is a dead letter. */
function toObservation(
  record: InputRecord,
  { state, scoring }: DecodingContext,
  nowMs: number,
): RoutedObservation | 'without-value' | DeadLetterCause {
  const { decoder, detectorOf, places } = scoring;
  if (record.skipped !== undefined) return whySkipped(record.skipped);
  if (!hasValue(record)) return 'without-value';
  const unusable = whyKeyUnusable(record.key);
  if (unusable !== null) return { reason: 'key-unusable', detail: unusable };
  const decoded = decoder.decode(record, nowMs);
  if (decoded.kind === 'dead-letter') {
    const { reason, detail, series } = decoded;
    return { reason, detail, series, detector: series === null ? null : (detectorOf(series)?.config.name ?? null) };
  }
  const { series, source } = decoded;
  // A known series names its detector: at a million series each look into a map of all misses the caches.
  const unit = source === undefined ? state.all.units.get(series) : undefined;
  const loaded = unit === undefined ? detectorOf(source ?? series) : unit.loaded;
  if (loaded === null) {
    const wasScored = state.outdated.has(series);
    const detail = `no detector watches series ${JSON.stringify(series)}${wasScored ? ' any more' : ''}`;
    return { reason: 'series-unknown', detail, series, wasScored };
  }
  if (decoded.kind === 'missing') return 'without-value';
  const { group, timestampMs, value } = decoded;
  const extras = extrasFor(loaded, decoded.extras);
  if (extras?.problem !== undefined) {
    return { reason: 'record-unreadable', detail: extras.problem, series, detector: loaded.config.name };
  }
  if (group !== null) {
    const split = whySplit(record, group, places.get(groupKey(loaded.config.name, group)));
    if (split !== null) return { reason: 'group-split', detail: split, series, detector: loaded.config.name };
  }
  const { laterMs } = decoded;
  const { removals } = state.all;
  const bare = withoutSchemaHeaders(record);
  const alone = group === null ? unit : undefined;
  return { series, source, group, timestampMs, laterMs, value, extras, record: bare, loaded, unit: alone, removals };
}

export function recordFailed(message: string): DeadLetterCause {
  return { reason: 'record-failed', detail: `scoring it failed with an unexpected error, also alone: ${message}` };
}

export function whySkipped({ first, last, reason }: SkippedRange): DeadLetterCause {
  const range = `offsets ${first} to ${last}`;
  switch (reason) {
    case 'records-expired':
      return { reason, detail: `retention deleted ${range} before they were read` };
    case 'records-truncated':
      return { reason, detail: `the broker lost ${range} after they were read; new records get these offsets` };
    case 'records-skipped':
      return { reason, detail: `the consumer group's offset was moved past ${range}, which the state has not seen` };
    case 'topic-recreated':
      return { reason, detail: `the topic was recreated: it has no offset ${first}, the next one to read` };
  }
}

function whyKeyUnusable(key: Buffer | null): string | null {
  if (key === null) return null;
  if (key.length > KEY_BYTES_MAX) return `the key is ${key.length} bytes long, more than ${KEY_BYTES_MAX}`;
  // Some clients take such a record in an aborted transaction for the marker that ends the transaction.
  return key.length === 4 && key.readInt32BE() === 0 ? 'the key is four zero bytes, which misleads readers' : null;
}

/**
 * The key of a member's record must be the group's id, so that all members share a partition. A member elsewhere is
 * never scored alone.
 */
function whySplit({ key, partition }: InputRecord, group: string, place: number | undefined): string | null {
  if (key === null || key.toString() !== group) {
    return `the record's key must be the group's id ${JSON.stringify(group)}, so that all members share a partition`;
  }
  if (place === undefined || place === partition) return null;
  return `group ${JSON.stringify(group)} is in partition ${place}; this member arrived in partition ${partition}`;
}
