/** What the pages show, independent of where it comes from. Times are milliseconds since the epoch. */

export type AnomalyKind = 'spike' | 'dip' | 'level_shift' | 'drift' | 'missing_season' | 'stuck' | 'burst' | 'silence';

export type Direction = 'up' | 'down' | 'both';

/** An event of a series or group, with what people have said about it. */
export interface SeenEvent {
  readonly id: string;
  readonly detector: string;
  readonly series: string;
  readonly group: string | null;
  readonly kind: AnomalyKind;
  readonly direction: Direction;
  readonly startedAt: number;
  readonly peakAt: number;
  readonly updatedAt: number;
  /** null while it is open. */
  readonly endedAt: number | null;
  readonly severity: number | null;
  readonly grade: number | null;
  /** At the peak. */
  readonly value: number | null;
  readonly expected: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly alarms: number;
  readonly observations: number;
  readonly closeReason: string | null;
  readonly summary: string;
  readonly unusual: string | null;
  readonly members: readonly { readonly series: string; readonly share: number }[];
  readonly labels: Readonly<Record<string, string>>;
  readonly acknowledgedBy: string | null;
  readonly mutedUntil: number | null;
  readonly muteReason: string | null;
  /** Was it real? null where nobody has said so. */
  readonly real: boolean | null;
}

/** The newest score of a series. */
export interface SeenSeries {
  readonly id: string;
  readonly detector: string;
  readonly group: string | null;
  readonly at: number;
  readonly value: number | null;
  readonly grade: number | null;
  readonly state: string;
  readonly alarm: boolean;
  /** The newest values, oldest first; empty unless they were asked for. */
  readonly recent: readonly (number | null)[];
}

/** Scores of one series, a column each, oldest first. Missing numbers are null. */
export interface ShownScores {
  readonly at: readonly number[];
  readonly value: readonly (number | null)[];
  readonly forecast: readonly (number | null)[];
  readonly lo: readonly (number | null)[];
  readonly hi: readonly (number | null)[];
  readonly grade: readonly (number | null)[];
  readonly alarm: readonly boolean[];
  /** Extremes of each point where several scores became one; equal to `value` otherwise. */
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  /** True where points stand for several scores. */
  readonly downsampled: boolean;
}

/** One score as it arrives. */
export interface ArrivedScore {
  readonly series: string;
  readonly at: number;
  readonly value: number | null;
  readonly forecast: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly grade: number | null;
  readonly alarm: boolean;
}

export interface PageOf<T> {
  readonly rows: readonly T[];
  /** null on the last page. */
  readonly next: string | null;
}

export const NO_SCORES: ShownScores = {
  ...{ at: [], value: [], forecast: [], lo: [], hi: [], grade: [], alarm: [], min: [], max: [] },
  downsampled: false,
};
