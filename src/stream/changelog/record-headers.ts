import type { StateReader, StateWriter } from './state-bytes.ts';

/** Headers of a record that pass on to its score; undefined where there are none. */
export type PassedHeaders = Readonly<Record<string, string>> | undefined;

export function writeHeaders(writer: StateWriter, headers: PassedHeaders): void {
  const entries = Object.entries(headers ?? {});
  writer.number(entries.length);
  for (const [name, value] of entries) {
    writer.text(name);
    writer.blob(Buffer.from(value));
  }
}

export function readHeaders(reader: StateReader): { readonly headers?: Readonly<Record<string, string>> } {
  const count = reader.number();
  if (count === 0) return {};
  const entries = Array.from({ length: count }, () => [reader.text(), reader.blob()?.toString() ?? ''] as const);
  return { headers: Object.fromEntries(entries) };
}
