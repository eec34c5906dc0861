import type { DeadLetterReason } from '../../records/dead-letter.ts';
import type { PointExtras } from '../../records/point-extras.ts';

/** One value of one series at one event time. */
interface DecodedObservation {
  readonly kind: 'observation';
  /** Never empty, at most SERIES_ID_BYTES_MAX bytes of UTF-8, without NUL. */
  readonly series: string;
  /** The id of its name and labels, where a template makes `series` of them; otherwise left out. */
  readonly source?: string;
  /** null if the series' detector has no group path. */
  readonly group: string | null;
  /** Integer milliseconds since the epoch. */
  readonly timestampMs: number;
  /** The second instant, if the clock of the input shows the time twice; otherwise left out. */
  readonly laterMs?: number;
  /** Finite. */
  readonly value: number;
  /** Omitted where there are none. */
  readonly extras?: PointExtras;
}

/** A record whose value is missing: NaN, which emitters also send as a staleness marker. */
interface MissingValue {
  readonly kind: 'missing';
  readonly series: string;
  /** As in `DecodedObservation`. */
  readonly source?: string;
  readonly timestampMs: number;
}

/** A record that cannot be decoded into an observation. */
export interface Undecodable {
  readonly kind: 'dead-letter';
  readonly reason: DeadLetterReason;
  readonly detail: string;
  /** The series id, where it was decoded before the failure. */
  readonly series: string | null;
}

export type Decoded = DecodedObservation | MissingValue | Undecodable;
