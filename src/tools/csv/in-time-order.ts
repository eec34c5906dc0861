import type { CsvItem, CsvObservation } from './csv-item.ts';

/** Rows of a file that are sorted. A longer file must be in order. */
const SORTED_ROWS_MAX = 1_000_000;

/** Time by which a row may be older than the newest one of its series, if rows are passed on as they arrive. */
export interface LiveReading {
  readonly olderMsMax: number;
}

interface Ordering {
  /** null: the file is read first, and sorted. */
  readonly live: LiveReading | null;
  readonly rowsMax?: number;
  /** Called with the number of rows, once all of them are read and none is passed on. */
  readonly onRead?: ((rows: number) => void) | undefined;
}

/**
 * The items of a file with its observations in the order of their times, as a stream needs them. A file that is not is
 * sorted, up to `rowsMax` rows; beyond, nothing of it is passed on. Where rows are passed on as they arrive, and
 * behind the rows that are sorted, older ones are refused.
 */
export async function* inTimeOrder(
  items: AsyncIterable<CsvItem>,
  { live, rowsMax = SORTED_ROWS_MAX, onRead }: Ordering,
): AsyncGenerator<CsvItem> {
  const newest = new Map<string, number>();
  let held: CsvObservation[] | null = live === null ? [] : null;
  let unsortedLine: number | null = null;
  for await (const item of items) {
    if (item.kind !== 'observation') {
      yield item;
      continue;
    }
    const { line, series, timestampMs } = item;
    const newestMs = newest.get(series) ?? Number.NEGATIVE_INFINITY;
    if (timestampMs > newestMs) newest.set(series, timestampMs);
    if (held === null) {
      if (timestampMs >= newestMs - (live?.olderMsMax ?? 0)) yield item;
      else yield { kind: 'refused', line, reason: olderText(newestMs, item) };
      continue;
    }
    if (timestampMs < newestMs) unsortedLine ??= line;
    held.push(item);
    if (held.length < rowsMax) continue;
    if (unsortedLine !== null) {
      const problem = `Line ${unsortedLine} is older than a row before it, and only ${rowsMax} rows are sorted`;
      yield { kind: 'no-observations', problems: [`${problem}: sort the file by time, oldest first`] };
      return;
    }
    for (const observation of held) yield observation;
    held = null;
  }
  if (held === null) return;
  onRead?.(held.length);
  if (unsortedLine !== null) {
    const fact = `line ${unsortedLine} is the first that is older than one before it`;
    yield { kind: 'remark', text: `The rows are sorted by time: ${fact}` };
    held.sort((a, b) => a.timestampMs - b.timestampMs || a.line - b.line);
  }
  // `yield*` awaits each of them once more.
  for (const observation of held) yield observation;
}

function olderText(newestMs: number, { series, timestampMs }: CsvObservation): string {
  const [own, other] = [timestampMs, newestMs].map((ms) => new Date(ms).toISOString());
  return `its time ${own} is before ${other}, the newest of series ${JSON.stringify(series)}: sort rows by time`;
}
