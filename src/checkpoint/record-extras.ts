import type { RecordHeaders } from '../kafka/batch/records.ts';
import type { PointExtras } from '../records/point-extras.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** Headers of a record that pass on to its score; undefined if there are none. */
export type PassedHeaders = RecordHeaders | undefined;

export function writeHeaders(writer: StateWriter, headers: PassedHeaders): void {
  writer.number(headers?.length ?? 0);
  for (const [name, value] of headers ?? []) {
    writer.text(name);
    writer.blob(value);
  }
}

export function readHeaders(reader: StateReader): { readonly headers?: RecordHeaders } {
  const count = reader.number();
  if (count === 0) return {};
  return { headers: Array.from({ length: count }, () => [reader.text(), reader.blob()] as const) };
}

const [START, DELTA, LOW, REPLICA] = [1, 2, 4, 8];

export function writeExtras(writer: StateWriter, { startMs, isDelta, low, replica }: PointExtras = {}): void {
  const start = startMs === undefined ? 0 : START;
  const flags = start | (isDelta === true ? DELTA : 0) | (low === undefined ? 0 : LOW);
  writer.u8(flags | (replica === undefined ? 0 : REPLICA));
  if (startMs !== undefined) writer.number(startMs);
  if (low !== undefined) writer.number(low);
  if (replica !== undefined) writer.text(replica);
}

export function readExtras(reader: StateReader): PointExtras | undefined {
  const flags = reader.u8();
  if (flags === 0) return undefined;
  return {
    ...((flags & START) !== 0 && { startMs: reader.number() }),
    ...((flags & DELTA) !== 0 && { isDelta: true }),
    ...((flags & LOW) !== 0 && { low: reader.number() }),
    ...((flags & REPLICA) !== 0 && { replica: reader.text() }),
  };
}
