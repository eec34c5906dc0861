import type { Unusualness, Verdict } from '../alarm/alarm.ts';
import { deviationFloor } from '../calibration/resolution.ts';
import { judgeSeason } from '../profile/season-alarm.ts';
import { explainedByProfile, trackSeason } from '../profile/season-verdict.ts';
import { profileState, SCALARS } from './series-memory.ts';
import type { SeriesRings } from './series-rings.ts';

export interface TimedRow {
  readonly value: number;
  readonly timestampMs: number;
  readonly moved: Unusualness['moved'];
}

/** The verdict of the forecasts on a row, with that of the seasonal profile where the series has one. */
export function judgeInSeason(rings: SeriesRings, verdict: Verdict, { value, timestampMs, moved }: TimedRow): Verdict {
  const { profile, settings } = rings.layout;
  // Seasonal verdicts of members belong to the verdict on their group.
  if (profile === null || settings.thresholdMethod === 'multivariate') return verdict;
  const state = profileState(rings, profile);
  if (Number.isNaN(value) || Number.isNaN(timestampMs)) return judgeSeason(state, verdict, null, 0);
  const floor = deviationFloor(rings.doubles, rings.scalarIndex(SCALARS.resolution));
  const season = explainedByProfile(trackSeason(state, timestampMs, value, floor), moved);
  if (Number.isNaN(verdict.grade)) return judgeSeason(state, verdict, null, 0);
  return judgeSeason(state, verdict, season, settings.alarmRate ?? 0);
}
