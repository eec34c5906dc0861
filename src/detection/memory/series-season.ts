import type { Verdict } from '../alarm/alarm.ts';
import { deviationFloor } from '../calibration/resolution.ts';
import { judgeSeason } from '../profile/season-alarm.ts';
import { explainedByProfile, trackSeason } from '../profile/season-verdict.ts';
import { SCALARS } from './series-memory.ts';
import type { SeriesRings } from './series-rings.ts';

export interface TimedRow {
  readonly position: number;
  readonly value: number;
  readonly timestampMs: number;
}

/** The verdict of the forecasts on a row, with that of the seasonal profile where the series has one. */
export function judgeInSeason(rings: SeriesRings, verdict: Verdict, row: TimedRow, moved?: number): Verdict {
  const { value, timestampMs } = row;
  const { settings } = rings.layout;
  const state = rings.profile;
  // Seasonal verdicts of members belong to the verdict on their group.
  if (state === null || settings.thresholdMethod === 'multivariate') return verdict;
  if (Number.isNaN(value) || Number.isNaN(timestampMs)) return judgeSeason(state, verdict, null, 0);
  const floor = deviationFloor(rings.doubles, rings.scalarIndex(SCALARS.resolution));
  const season = explainedByProfile(trackSeason(state, timestampMs, value, floor), moved);
  if (Number.isNaN(verdict.grade)) return judgeSeason(state, verdict, null, 0);
  return judgeSeason(state, verdict, season, settings.alarmRate ?? 0);
}
