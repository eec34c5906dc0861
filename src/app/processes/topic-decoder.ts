import type { SchemaSource } from '../../codecs/formats/schema-source.ts';
import { type EncodedRecord, hasValue } from '../../codecs/formats/wire-header.ts';
import type { Decoded } from '../../codecs/observations/decoded.ts';
import type { GroupSourceOf } from '../../codecs/observations/mapping.ts';
import { createRecordDecoder } from '../../codecs/observations/record-decoder.ts';
import { createRecordSplitter } from '../../codecs/points/record-splitter.ts';
import type { RecordMapping } from '../../config/config.ts';
import { holdsMany, scoredInput } from '../../config/rekeyed-input.ts';
import type { TopicRecord } from '../../kafka/fetch/topic-tail.ts';

interface TopicDecoding {
  readonly groupSourceOf: GroupSourceOf;
  /** Points of other series are left out, where records hold many. */
  readonly isWatched: (series: string) => boolean;
  readonly schemas: SchemaSource | null;
}

/** Content of each record of a topic, in any format: an observation, many, or the reason of none. */
type DecodeRecords = (records: readonly TopicRecord[]) => Promise<(TopicRecord & { readonly decoded: Decoded })[]>;

/** Decodes records of a topic by the mapping of the input. */
export function topicDecoder(
  input: RecordMapping,
  { groupSourceOf, isWatched, schemas }: TopicDecoding,
): DecodeRecords {
  const decoder = createRecordDecoder(scoredInput(input), { groupSourceOf, schemas });
  const splitting = {
    groupPathOf: (series: string) => (isWatched(series) ? groupSourceOf(series) : 'unwatched'),
    futureLimitOf: () => Number.POSITIVE_INFINITY,
    schemas,
  } as const;
  const splitter = holdsMany(input) ? createRecordSplitter(input, splitting) : null;
  const decode = (record: TopicRecord & EncodedRecord, nowMs: number) => {
    const split = splitter?.split(record, nowMs);
    if (split === undefined) return [{ ...record, decoded: decoder.decode(record, nowMs) }];
    if (split.kind === 'dead-letter') return [{ ...record, decoded: split }];
    const refused = split.reasons.map(
      (detail): Decoded => ({ kind: 'dead-letter', reason: 'points-refused', detail, series: null }),
    );
    const found = split.records.map((each) => decoder.decode(each, nowMs));
    return [...found, ...refused].map((decoded) => ({ ...record, decoded }));
  };
  return async (records) => {
    const { missingSchema, loadSchemas } = splitter ?? decoder;
    const nowMs = Date.now();
    const valued = records.filter(hasValue);
    const missing = new Set(valued.map((record) => missingSchema(record, nowMs)));
    const ids = [...missing].filter((id) => id !== null);
    if (ids.length > 0) await loadSchemas(ids, nowMs);
    return valued.flatMap((record) => decode(record, nowMs));
  };
}
