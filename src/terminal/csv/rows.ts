import { type CsvError, parse } from 'csv-parse';

/** One record of a CSV file: its fields without surrounding quotes and blanks. */
export interface CsvRow {
  readonly kind: 'row';
  /** Line of the file that the record ends in, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** The rest cannot be split into records, so reading ends here. */
export interface BrokenCsv {
  readonly kind: 'broken';
  readonly reason: string;
}

/** A quote that is never closed would make one record of the rest of the file. */
const RECORD_BYTES_MAX = 1024 * 1024;

/**
 * Parses comma-separated records as the bytes arrive (RFC 4180; empty lines are left out). Rejects when the source
 * does.
 */
export async function* readCsvRows(source: AsyncIterable<Buffer | string>): AsyncGenerator<CsvRow | BrokenCsv> {
  let rows: CsvRow[] = [];
  let broken: CsvError | Error | null = null;
  const parser = parse({
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: RECORD_BYTES_MAX,
    // The parser drops its queue when it fails. Earlier rows must not be lost.
    on_record: (fields: string[], { lines }) => {
      rows.push({ kind: 'row', line: lines, fields });
      return null;
    },
  });
  parser.on('error', (error) => {
    broken = error;
  });
  parser.resume();
  for await (const chunk of source) {
    await new Promise((resolve) => parser.write(chunk, resolve));
    yield* rows;
    rows = [];
    if (broken !== null) break;
  }
  if (broken === null) {
    await new Promise<void>((resolve) => parser.once('error', () => resolve()).end(() => resolve()));
    yield* rows;
  }
  if (broken !== null) yield { kind: 'broken', reason: (broken as Error).message };
}
