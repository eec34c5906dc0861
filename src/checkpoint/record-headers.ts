import type { RecordHeaders } from '../kafka/batch/records.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** Headers of a record that pass on to its score; undefined where there are none. */
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
