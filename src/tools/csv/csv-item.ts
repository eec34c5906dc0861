import type { PointExtras } from '../../records/point-extras.ts';
import type { BrokenCsv } from './rows.ts';

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
  /** A fact of the reading, once for each. */
  | { readonly kind: 'remark'; readonly text: string }
  /** Nothing can be read: columns are missing, or the file is empty or far out of order. */
  | { readonly kind: 'no-columns' | 'no-observations'; readonly problems: readonly string[] }
  | BrokenCsv;
