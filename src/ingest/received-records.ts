import type { RecordMapping } from '../config/config.ts';
import { inflateSnappy } from '../kafka/batch/snappy.ts';
import type { ReceivedPoints } from '../record/received-points.ts';
import type { GroupPathOf } from '../stream/codec/mapping.ts';
import { compileObservationWriter } from '../stream/codec/observation-writer.ts';
import { decodeLineProtocol } from '../stream/codec/points/line-protocol.ts';
import { decodeOtlp } from '../stream/codec/points/otlp.ts';
import { decodeRemoteWrite } from '../stream/codec/points/remote-write.ts';
import type { PointsOfRecord, UnreadablePoints } from '../stream/codec/points/series-points.ts';
import { reasonOf } from '../stream/codec/quoted.ts';
import { createRecordDecoder } from '../stream/codec/record-decoder.ts';
import type { KeyedRecord } from './send-queue.ts';

/** Bytes of a body after Snappy. */
export const INFLATED_BYTES_MAX = 32 * 1024 * 1024;
/** Reasons that an answer repeats. */
export const REASONS_MAX = 20;

/** What becomes of the points of one body. */
export interface ReceivedRecords {
  readonly kind: 'records';
  readonly records: readonly KeyedRecord[];
  /** Points of series that no detector watches. */
  readonly unwatched: number;
  readonly refused: number;
  readonly reasons: readonly string[];
}

export interface PointWriter {
  readonly mapping: RecordMapping;
  /** The detector of a series: where the id of its group is; `unwatched` where there is no detector. */
  groupPathOf(series: string): string | null | 'unwatched';
}

/** Turns bodies into records of the input topic. `nowMs` is the clock, milliseconds since the epoch. */
export type RecordsOfBody = (body: ReceivedPoints, nowMs: number) => ReceivedRecords | UnreadablePoints;

/**
 * Records have one observation each and the key of its series, or of its group. A point of a series whose detector
 * scores groups is refused, but in JSON lines, which can name the group.
 */
export function recordsOfBodies({ mapping, groupPathOf }: PointWriter): RecordsOfBody {
  const knownGroupPath: GroupPathOf = (series) => {
    const path = groupPathOf(series);
    return path === 'unwatched' ? null : path;
  };
  const write = compileObservationWriter(mapping, knownGroupPath);
  const decoder = createRecordDecoder(mapping, { groupPathOf: knownGroupPath });

  function recordsOfLines(bytes: Buffer, nowMs: number): ReceivedRecords {
    const records: KeyedRecord[] = [];
    const refusals = new RefusedPoints();
    let unwatched = 0;
    // A mark before the first line would be a part of its record.
    let at = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    for (let line = 1; at < bytes.length; line++) {
      const end = bytes.indexOf(LINE_FEED, at);
      const value = bytes.subarray(at, end === -1 ? bytes.length : end);
      at += value.length + 1;
      if (value.length === 0 || (value.length === 1 && value[0] === CARRIAGE_RETURN)) continue;
      const decoded = decoder.decode(value, nowMs);
      if (decoded.kind === 'dead-letter') refusals.add(`line ${line}: ${decoded.detail}`);
      else if (groupPathOf(decoded.series) === 'unwatched') unwatched++;
      else records.push({ key: Buffer.from(decoded.group ?? decoded.series), value });
    }
    return { kind: 'records', records, unwatched, ...refusals };
  }

  function recordsOfPoints(points: PointsOfRecord & { kind: 'points' }, nowMs: number): ReceivedRecords {
    const records: KeyedRecord[] = [];
    const refusals = new RefusedPoints();
    let unwatched = 0;
    for (const { id, detail } of points.refused) refusals.add(id === null ? detail : `${id}: ${detail}`);
    for (const { id: series, timestampsMs, values } of points.series) {
      if (groupPathOf(series) === 'unwatched') {
        unwatched += values.length;
        continue;
      }
      for (let i = 0; i < values.length; i++) {
        const written = write({ series, group: null, timestampMs: timestampsMs[i], value: values[i] }, nowMs);
        if (written.kind === 'record') records.push({ key: written.key, value: written.value });
        else refusals.add(`${series.slice(0, 200)}: ${written.reason}`);
      }
    }
    return { kind: 'records', records, unwatched, ...refusals };
  }

  return (body, nowMs) => {
    if (body.format === 'json-lines') return recordsOfLines(body.bytes, nowMs);
    const points = decodedPoints(body, nowMs);
    return points.kind === 'points' ? recordsOfPoints(points, nowMs) : points;
  };
}

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

function decodedPoints({ format, bytes: given, snappy, precision }: ReceivedPoints, nowMs: number): PointsOfRecord {
  let bytes = given;
  try {
    if (snappy) bytes = inflateSnappy(given, INFLATED_BYTES_MAX);
  } catch (error) {
    return { kind: 'unreadable', detail: `the body is no Snappy block: ${reasonOf(error)}` };
  }
  switch (format) {
    case 'remote-write':
      return decodeRemoteWrite(bytes);
    case 'otlp-protobuf':
      return decodeOtlp(bytes, 'protobuf');
    case 'otlp-json':
      return decodeOtlp(bytes, 'json');
    default:
      return decodeLineProtocol(bytes.toString(), { precision, nowMs });
  }
}

/** All are counted, the first are kept. */
class RefusedPoints {
  refused = 0;
  readonly reasons: string[] = [];

  add(reason: string): void {
    this.refused++;
    if (this.reasons.length < REASONS_MAX) this.reasons.push(reason);
  }
}
