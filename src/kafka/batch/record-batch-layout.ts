/**
 * Kafka's record batch, format v2. Byte offsets within a batch:
 *
 *     0 baseOffset i64 | 8 length i32 (of what follows) | 12 leaderEpoch i32 | 16 magic i8
 *    17 crc u32 (of all that follows) | 21 attributes i16 | 23 lastOffsetDelta i32 | 27 baseTimestamp i64
 *    35 maxTimestamp i64 | 43 producerId i64 | 51 producerEpoch i16 | 53 baseSequence i32 | 57 count i32 | 61 records
 *
 * A record: length varint | attributes i8 | timestampDelta varlong | offsetDelta varint | key | value | headers, where
 * bytes are preceded by their length as a varint and -1 represents null.
 */
export const HEADER_BYTES = 61;
/** Bytes before the part that `length` counts. */
export const LENGTH_PREFIX_BYTES = 12;
export const MAGIC = 2;
export const CODEC_MASK = 0x07;
export const LOG_APPEND_TIME_FLAG = 0x08;
export const TRANSACTIONAL_FLAG = 0x10;
export const CONTROL_FLAG = 0x20;
