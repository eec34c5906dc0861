import { type CsvError, parse } from 'csv-parse';
import { readHead, type Separator } from './separator.ts';

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

/** Once, before the first row, where it is no comma. */
export interface FoundSeparator {
  readonly kind: 'separator';
  readonly separator: Separator;
}

/**
 * Parses separated records as the bytes arrive (RFC 4180; empty lines are left out). The first line decides what
 * separates them. Rejects when the source does.
 */
export async function* readCsvRows(
  source: AsyncIterable<Buffer | string>,
): AsyncGenerator<FoundSeparator | CsvRow | BrokenCsv> {
  const chunks = source[Symbol.asyncIterator]();
  const { chunks: head, separator } = await readHead(chunks);
  if (separator !== ',') yield { kind: 'separator', separator };
  let rows: CsvRow[] = [];
  let broken: CsvError | Error | null = null;
  const parser = parse({
    delimiter: separator,
    bom: true,
    // Blanks around fields, but not the tabs between them.
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
  for await (const chunk of continued(head, chunks)) {
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

async function* continued(
  head: readonly (Buffer | string)[],
  rest: AsyncIterator<Buffer | string>,
): AsyncGenerator<Buffer | string> {
  yield* head;
  yield* { [Symbol.asyncIterator]: () => rest };
}
