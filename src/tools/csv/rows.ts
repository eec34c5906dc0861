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

/** Once, before the first row, where it is no comma. */
interface FoundSeparator {
  readonly kind: 'separator';
  readonly separator: Separator;
}

/**
 * Parses separated records as the bytes arrive (RFC 4180; empty lines are omitted). The first line decides what
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

/** Separators of the fields of a row, with their names. */
export const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
export type Separator = keyof typeof SEPARATORS;

/** Bytes in which the first line is looked for. */
const HEAD_BYTES_MAX = 64 * 1024;
const FIRST_LINE = /^\s*\S.*[\r\n]/;

/** Reads chunks until the first line that is not empty is there, and finds its separator. */
async function readHead(source: AsyncIterator<Buffer | string>) {
  const chunks: (Buffer | string)[] = [];
  const decoder = new TextDecoder();
  let begin = '';
  while (begin.length < HEAD_BYTES_MAX && !FIRST_LINE.test(begin)) {
    const { done, value } = await source.next();
    if (done) break;
    chunks.push(value);
    begin += typeof value === 'string' ? value : decoder.decode(value, { stream: true });
  }
  return { chunks, separator: separatorOf(begin) };
}

/** The most frequent separator of the first line, outside of quotes; a comma if there is none. */
function separatorOf(begin: string): Separator {
  const [line = ''] = begin.split(/[\r\n]+/).filter((text) => text.trim() !== '');
  const bare = line.replace(/"[^"]*"/g, '');
  const counted = (Object.keys(SEPARATORS) as Separator[]).map((separator) => {
    return { separator, count: bare.split(separator).length - 1 };
  });
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).separator;
}
