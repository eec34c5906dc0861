import type { ProfileState } from '../../detection/profile/profile-layout.ts';

/** What a series hands on to the unit that replaces it under other settings. */
export interface SeriesPast {
  /** One a time step; NaN where missing. */
  readonly values: Float64Array;
  /** Event time of the first. */
  readonly originMs: number;
  /** Event time of the newest record. */
  readonly newestMs: number;
  /** What it has learned of hours and weekdays; null for nothing. */
  readonly profile: ProfileState | null;
}
