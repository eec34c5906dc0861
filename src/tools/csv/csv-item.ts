import type { TimeUnit } from '../../config/config.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import type { BrokenCsv, FoundSeparator } from './rows.ts';

export interface CsvObservation {
  readonly kind: 'observation';
  readonly line: number;
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
  /** The text of the label column, if there is one. */
  readonly label?: string;
  /** Omitted if there are none. */
  readonly extras?: PointExtras;
}

/** The result of reading a row, or a remark on the file. */
export type CsvItem =
  | CsvObservation
  | { readonly kind: 'refused'; readonly line: number; readonly reason: string }
  /** Once, before the first observation. */
  | { readonly kind: 'time-unit'; readonly unit: TimeUnit; readonly detected: boolean }
  | FoundSeparator
  /** Once, before the first observation, where one has no zone and no clock is named. */
  | { readonly kind: 'no-time-zone' }
  /** Once: the row of this line is the first that is older than one before it of its series. */
  | { readonly kind: 'sorted'; readonly line: number }
  /** Once, before the first number that has one. */
  | { readonly kind: 'decimal-comma'; readonly line: number }
  /** Nothing can be read: columns are missing, or the file is empty or far out of order. */
  | { readonly kind: 'no-columns' | 'no-observations'; readonly problems: readonly string[] }
  | BrokenCsv;
