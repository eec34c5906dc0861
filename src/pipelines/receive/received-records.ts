import { createRecordDecoder } from '../../codecs/observations/record-decoder.ts';
import { pointsDecoder } from '../../codecs/points/decode-points.ts';
import {
  compilePointRecords,
  type KeyedRecord,
  type PointRecords,
  type WatchedGroupPath,
} from '../../codecs/points/point-records.ts';
import { type NativeHistograms, RefusedPoints, type UnreadablePoints } from '../../codecs/points/series-points.ts';
import type { RecordMapping } from '../../config/config.ts';
import type { ReceivedPoints } from '../../records/received-points.ts';

/** Lines of one body that cannot be used: each costs far more than one that can. */
export const REFUSED_LINES_MAX = 10_000;

/** The records of one body, and its points that have none. */
interface ReceivedRecords extends PointRecords {
  readonly kind: 'records';
  /** Points without a value. */
  readonly missing: number;
  readonly histograms?: NativeHistograms;
}

export interface PointWriter {
  readonly mapping: RecordMapping;
  readonly groupPathOf: WatchedGroupPath;
}

/** Turns bodies into records of the input topic. `nowMs` is the clock, milliseconds since the epoch. */
export type RecordsOfBody = (body: ReceivedPoints, nowMs: number) => ReceivedRecords | UnreadablePoints;

/**
 * Records have one observation each and the key of its series, or of its group. A point of a series whose detector
 * scores groups is refused, but in JSON lines, which can name the group, or where labels make the groups.
 */
export function recordsOfBodies({ mapping, groupPathOf }: PointWriter): RecordsOfBody {
  const recordsOfPoints = compilePointRecords({ mapping, groupPathOf });
  const decodePoints = pointsDecoder(mapping);
  const decoder = createRecordDecoder(mapping, {
    groupSourceOf: (series) => {
      const path = groupPathOf(series);
      return path === 'unwatched' ? null : path;
    },
  });

  function recordsOfLines(bytes: Buffer, nowMs: number): ReceivedRecords | UnreadablePoints {
    const records: KeyedRecord[] = [];
    const refusals = new RefusedPoints();
    let [unwatched, missing] = [0, 0];
    // A mark before the first line would be a part of its record.
    let at = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    for (let line = 1; at < bytes.length; line++) {
      const end = bytes.indexOf(LINE_FEED, at);
      const value = bytes.subarray(at, end === -1 ? bytes.length : end);
      at += value.length + 1;
      if (value.length === 0 || (value.length === 1 && value[0] === CARRIAGE_RETURN)) continue;
      const decoded = decoder.decode({ value }, nowMs);
      if (decoded.kind === 'dead-letter') {
        refusals.add(`line ${line}: ${decoded.detail}`);
        const { refused, reasons } = refusals.all;
        if (refused <= REFUSED_LINES_MAX) continue;
        return { kind: 'unreadable', detail: `more than ${REFUSED_LINES_MAX} lines cannot be used: ${reasons[0]}` };
      }
      if (groupPathOf(decoded.source ?? decoded.series) === 'unwatched') unwatched++;
      // A missing value is none to keep, as in the other formats.
      else if (decoded.kind === 'observation')
        records.push({ key: Buffer.from(decoded.group ?? decoded.series), value });
      else missing++;
    }
    return { kind: 'records', records, unwatched, missing, ...refusals.all };
  }

  return (body, nowMs) => {
    const { format } = body;
    if (format === 'json-lines') return recordsOfLines(body.bytes, nowMs);
    const points = decodePoints({ ...body, format }, nowMs);
    if (points.kind === 'unreadable') return points;
    const { missing, histograms } = points;
    return { kind: 'records', missing, ...(histograms && { histograms }), ...recordsOfPoints(points, nowMs) };
  };
}

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
