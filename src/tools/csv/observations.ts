import { EVENT_TIME_MS_MAX, isPlausible, isZoneless, readEventTime } from '../../codecs/observations/event-time.ts';
import { compileMapping } from '../../codecs/observations/mapping.ts';
import { START_PATH, TEMPORALITY_PATH } from '../../codecs/observations/read-extras.ts';
import type { TimeUnit } from '../../config/config.ts';
import { type CsvColumns, findColumns, type WantedColumns } from './columns.ts';
import type { CsvItem, CsvObservation } from './csv-item.ts';
import { inTimeOrder, type LiveReading } from './in-time-order.ts';
import { type CsvRow, readCsvRows, SEPARATORS, type Separator } from './rows.ts';
import { shortened } from './shortened.ts';
import type { TimeFormat } from './time-format.ts';

export interface CsvReading extends WantedColumns {
  /** The series of a file that has no column for it. */
  readonly onlySeries: string;
  /** undefined: the first unit in which the first time is plausible. */
  readonly timeUnit?: TimeUnit | undefined;
  /** The clock that times without a zone are of; undefined: UTC. */
  readonly timeZone?: string | undefined;
  /** undefined: times are numbers, or ISO 8601. */
  readonly timeFormat?: TimeFormat | undefined;
  /** Rows are passed on as they arrive; undefined: the file is read first, and sorted. */
  readonly live?: LiveReading | undefined;
  /** Called with the number of rows once all are read, before the first one is passed on. */
  readonly onRead?: (rows: number) => void;
}

const TIME_UNITS: readonly TimeUnit[] = ['iso', 's', 'ms', 'us', 'ns'];
const SERIES = 'series';
const TIME = 'timestamp';
const VALUE = 'value';

/**
 * Reads observations from CSV, in the order of their times. The first row names the columns. Rows are refused for the
 * reasons of the stream.
 */
export function readObservations(source: AsyncIterable<Buffer | string>, reading: CsvReading): AsyncGenerator<CsvItem> {
  return inTimeOrder(readRows(source, reading), { live: reading.live ?? null, onRead: reading.onRead });
}

async function* readRows(source: AsyncIterable<Buffer | string>, reading: CsvReading): AsyncGenerator<CsvItem> {
  let columns: CsvColumns | null = null;
  let observationOf: ReturnType<typeof rowReader> | null = null;
  let marks = new DecimalMarks(',');
  for await (const row of readCsvRows(source)) {
    if (row.kind === 'broken') {
      yield row;
      return;
    }
    if (row.kind === 'separator') {
      marks = new DecimalMarks(row.separator);
      yield { kind: 'remark', text: `The columns are separated by ${SEPARATORS[row.separator]}` };
      continue;
    }
    if (columns === null) {
      const found = findColumns(row.fields, reading);
      if (found.kind === 'problems') {
        yield { kind: 'no-columns', problems: found.problems };
        return;
      }
      columns = found.columns;
      continue;
    }
    if (observationOf === null) {
      const written = row.fields[columns.time];
      const unit = reading.timeFormat ? 'iso' : (reading.timeUnit ?? timeUnitOf(written));
      if (unit === null) {
        yield { kind: 'refused', line: row.line, reason: noTime(written) };
        continue;
      }
      if (reading.timeUnit === undefined && unit !== 'iso') {
        yield { kind: 'remark', text: `The numbers in the time column are read as ${unit} (--time-unit)` };
      }
      const { onlySeries, timeZone, timeFormat } = reading;
      const iso = timeFormat?.(written ?? '') ?? written;
      if (timeZone === undefined && unit === 'iso' && isZoneless(iso)) {
        yield { kind: 'remark', text: 'Times without a zone are read as UTC (--time-zone)' };
      }
      observationOf = rowReader(columns, { onlySeries, timeUnit: unit, timeZone: timeZone ?? null, timeFormat, marks });
    }
    const item = observationOf(row);
    if (marks.popComma())
      yield { kind: 'remark', text: 'Numbers are read with a decimal comma: 1,5 is one and a half' };
    yield item;
  }
  if (columns === null)
    yield { kind: 'no-observations', problems: ['the file is empty: its first line must name the columns'] };
}

/** The unit in which a time is between 1980 and 2200. At most one unit fits, since their ranges do not overlap. */
export function timeUnitOf(time: string | undefined): TimeUnit | null {
  return TIME_UNITS.find((unit) => isPlausible(readEventTime(time, unit), EVENT_TIME_MS_MAX)) ?? null;
}

interface RowReading {
  readonly onlySeries: string;
  readonly timeUnit: TimeUnit;
  readonly timeZone: string | null;
  readonly timeFormat: TimeFormat | undefined;
  readonly marks: DecimalMarks;
}

function rowReader(
  columns: CsvColumns,
  { onlySeries, marks, timeFormat, ...times }: RowReading,
): (row: CsvRow) => CsvItem {
  const mapping = { format: 'json', series: [SERIES], time: TIME, value: VALUE, ...times } as const;
  const localTimes = new LocalFileTimes();
  const decode = compileMapping({ ...mapping, futureMsMax: Number.POSITIVE_INFINITY });
  return ({ line, fields }) => {
    if (fields.length !== columns.count) {
      return { kind: 'refused', line, reason: `the row has ${fields.length} fields, the header ${columns.count}` };
    }
    const number = marks.read(fields[columns.value]);
    if (number.kind === 'refused') return { ...number, line };
    const written = fields[columns.time];
    const time = timeFormat?.(written) ?? written;
    if (timeFormat !== undefined && written !== '' && time === written) {
      return {
        kind: 'refused',
        line,
        reason: `the time is ${JSON.stringify(written)}, which does not match --time-format`,
      };
    }
    const record = {
      [SERIES]: columns.series === null ? onlySeries : fields[columns.series],
      [TIME]: time || null,
      [VALUE]: number.text || null,
      [START_PATH]: columns.start === null ? null : fields[columns.start] || null,
      [TEMPORALITY_PATH]: columns.temporality === null ? null : fields[columns.temporality] || null,
    };
    const decoded = decode(record, 0);
    if (decoded.kind === 'dead-letter') return { kind: 'refused', line, reason: decoded.detail };
    if (decoded.kind === 'missing') return { kind: 'refused', line, reason: 'the value is NaN, which is no value' };
    const { series, value, extras } = decoded;
    const timestampMs = times.timeZone === null ? decoded.timestampMs : localTimes.instantOf(decoded);
    const label = columns.label === null ? null : { label: fields[columns.label] };
    return { kind: 'observation', line, series, timestampMs, value, ...label, ...(extras && { extras }) };
  };
}

function noTime(field: string | undefined): string {
  if (field === undefined || field === '') return 'the record has no time';
  const units = 'neither an ISO 8601 date nor a number of seconds, ms, us or ns since 1970';
  return `the time is ${JSON.stringify(field)}: ${units}; name its format, such as --time-format "%d/%m/%Y %H:%M"`;
}

const HOUR_MS = 3_600_000;

/** The times of a series by the newest rows. */
interface SeriesTimes {
  lastMs: number;
  /** Rows are newest first. */
  isDescending: boolean;
  /** Instants that rows of the newest hour that comes twice have, by the first of both. */
  doubled: Map<number, number>;
}

/** Resolves a time that a clock shows twice when it is set back, by the rows before it; a second row has the other. */
class LocalFileTimes {
  readonly #series = new Map<string, SeriesTimes>();

  instantOf(time: { readonly series: string; readonly timestampMs: number; readonly laterMs?: number }): number {
    const { series, timestampMs: firstMs, laterMs = firstMs } = time;
    const times = this.#series.get(series) ?? { lastMs: -Infinity, isDescending: false, doubled: new Map() };
    this.#series.set(series, times);
    const { lastMs, isDescending, doubled } = times;
    const usedMs = doubled.get(firstMs);
    const isLater = isDescending ? laterMs < lastMs : firstMs <= lastMs;
    times.lastMs = usedMs === undefined ? (isLater ? laterMs : firstMs) : firstMs + laterMs - usedMs;
    if (laterMs === firstMs && firstMs !== lastMs) times.isDescending = firstMs < lastMs;
    if (laterMs === firstMs) return firstMs;
    if ([...doubled.keys()].some((ms) => Math.abs(ms - firstMs) > HOUR_MS)) doubled.clear();
    if (usedMs === undefined) doubled.set(firstMs, times.lastMs);
    return times.lastMs;
  }
}

const WITH_POINT = /^[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WITH_COMMA = /^[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?$/;

type ReadNumber =
  /** With a decimal point. What is no number stays as it is, so that the refusal can quote it. */
  { readonly kind: 'read'; readonly text: string } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads the numbers of a file. They have a decimal point or, where commas separate nothing, a decimal comma: as the
 * first one that has either. A number with the other mark would be read wrong by a thousand, and is refused.
 */
class DecimalMarks {
  readonly #mayBeComma: boolean;
  #mark: '.' | ',' | null = null;
  #isNew = false;

  constructor(separator: Separator) {
    this.#mayBeComma = separator !== ',';
  }

  /** True once, after the first number with a decimal comma. */
  popComma(): boolean {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }

  read(field: string): ReadNumber {
    const mark = !this.#mayBeComma ? null : WITH_COMMA.test(field) ? ',' : WITH_POINT.test(field) ? '.' : null;
    if (mark === null) return { kind: 'read', text: field };
    if (this.#mark === null) {
      this.#mark = mark;
      this.#isNew = mark === ',';
    }
    if (mark !== this.#mark) {
      const before = this.#mark === ',' ? 'a decimal comma' : 'a decimal point';
      return { kind: 'refused', reason: `the value is ${JSON.stringify(field)}, and numbers before it have ${before}` };
    }
    return { kind: 'read', text: field.replace(',', '.') };
  }
}

export interface CsvPull {
  readonly observations: AsyncIterable<CsvObservation>;
  readonly refusals: Refusals;
  /** Why the file was not read to its end; empty when it was. */
  readonly problems: readonly string[];
  /** False if the file does not have the columns that were requested. */
  readonly hasColumns: boolean;
}

/** The observations among the items of a file; refusals are counted. `report` is called with remarks about the file. */
export function pullObservations(items: AsyncIterable<CsvItem>, report: (line: string) => void): CsvPull {
  const pull = { refusals: new Refusals(), problems: [] as string[], hasColumns: true };
  return Object.assign(pull, { observations: observations() });

  async function* observations(): AsyncGenerator<CsvObservation> {
    for await (const item of items) {
      switch (item.kind) {
        case 'observation':
          yield item;
          break;
        case 'refused':
          pull.refusals.add(item.line, item.reason);
          break;
        case 'remark':
          report(item.text);
          break;
        case 'no-columns':
        case 'no-observations':
          pull.hasColumns = item.kind !== 'no-columns';
          pull.problems.push(...item.problems);
          break;
        case 'broken':
          pull.problems.push(`Reading ended early: ${item.reason}`);
          break;
      }
    }
  }
}

const SHOWN_MAX = 10;
/** A reason quotes a field, which may be as long as a record. */
const REASON_CHARACTERS_MAX = 300;

/** Refused rows: the first ones with line and reason, the others counted. */
export class Refusals {
  count = 0;
  readonly #shown: string[] = [];

  add(line: number, reason: string): void {
    this.count++;
    if (this.#shown.length < SHOWN_MAX) this.#shown.push(`  line ${line}: ${shortened(reason, REASON_CHARACTERS_MAX)}`);
  }

  /** Lines to print; none if nothing was refused. */
  lines(): readonly string[] {
    if (this.count === 0) return [];
    const more = this.count - this.#shown.length;
    const rest = more === 0 ? [] : [`  and ${more} more`];
    return [`${this.count} ${this.count === 1 ? 'row was' : 'rows were'} refused:`, ...this.#shown, ...rest];
  }
}
