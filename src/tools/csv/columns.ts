import { shortened } from './shortened.ts';

/** Column names from flags; undefined if the usual names are looked up in the header. */
export interface WantedColumns {
  readonly series?: string | undefined;
  readonly time?: string | undefined;
  readonly value?: string | undefined;
  readonly label?: string | undefined;
  /** `--series` was given: a series column is a contradiction then. */
  readonly onlySeriesNamed?: boolean;
}

/** Column indexes of an observation; `series` is null if the file holds one series. */
export interface CsvColumns {
  readonly count: number;
  readonly series: number | null;
  readonly time: number;
  readonly value: number;
  /** Marks the rows of incidents. */
  readonly label: number | null;
  /** Those of counters: since when it counts, and `delta` or `cumulative`. */
  readonly start: number | null;
  readonly temporality: number | null;
}

type FoundColumns =
  | { readonly kind: 'columns'; readonly columns: CsvColumns }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 50;

/** Default column names, in order of preference. */
const USUAL_NAMES = {
  series: ['series', 'unique_id'],
  time: ['timestamp', 'ds', 'time', 'date'],
  value: ['value', 'y'],
  start: ['start'],
  temporality: ['temporality'],
} as const;

/** Finds the columns by name. Default names match in any case. */
export function findColumns(header: readonly string[], wanted: WantedColumns): FoundColumns {
  const problems: string[] = [];
  const find = (part: 'series' | 'time' | 'value'): number => {
    const name = wanted[part];
    const at = name === undefined ? usual(header, USUAL_NAMES[part]) : header.indexOf(name);
    if (at >= 0 || (part === 'series' && name === undefined)) return at;
    const missing = name === undefined ? USUAL_NAMES[part].join(', ') : JSON.stringify(name);
    problems.push(`there is no ${part} column: ${missing} (--${part}-column) is not among ${namesOf(header)}`);
    return at;
  };
  const [series, time, value] = [find('series'), find('time'), find('value')];
  if (wanted.onlySeriesNamed && series >= 0) {
    const there = JSON.stringify(shortened(header[series], NAME_CHARACTERS_MAX));
    problems.push(`--series cannot be used with a series column, and there is ${there}`);
  }
  if (problems.length > 0) return { kind: 'problems', problems };
  const label = wanted.label === undefined ? -1 : header.indexOf(wanted.label);
  if (wanted.label !== undefined && label < 0) {
    const missing = `${JSON.stringify(wanted.label)} (--label-column) is not among ${namesOf(header)}`;
    return { kind: 'problems', problems: [`there is no label column: ${missing}`] };
  }
  const [start, temporality] = [usual(header, USUAL_NAMES.start), usual(header, USUAL_NAMES.temporality)];
  const columns = { count: header.length, series: placeOf(series), time, value, label: placeOf(label) };
  return { kind: 'columns', columns: { ...columns, start: placeOf(start), temporality: placeOf(temporality) } };
}

const placeOf = (at: number) => (at < 0 ? null : at);

function usual(header: readonly string[], names: readonly string[]): number {
  const lower = header.map((name) => name.toLowerCase());
  return names.map((name) => lower.indexOf(name)).find((at) => at >= 0) ?? -1;
}

function namesOf(header: readonly string[]): string {
  const shown = header.slice(0, NAMES_MAX).map((name) => shortened(name, NAME_CHARACTERS_MAX));
  const more = header.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}
