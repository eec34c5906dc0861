import type { Verdict } from '../../alarm/alarm.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';
import { judgeInSeason, type TimedRow } from '../../memory/series-season.ts';
import { judgeDeparture } from './flat-departure.ts';
import { judgeRise } from './rise-alarm.ts';
import { judgeStuck } from './stuck-alarm.ts';

/** The verdict on the newest row of a series that is scored alone, given that of its forecasts. */
export function judgeAlone(rings: SeriesRings, ofForecasts: Verdict, row: TimedRow, moved?: number): Verdict {
  const { position } = row;
  const rate = rings.layout.settings.alarmRate;
  const left = judgeRise(rings, position, judgeDeparture(rings, position, ofForecasts, rate), rate);
  const verdict = judgeInSeason(rings, left, row, moved);
  return judgeStuck(rings, position, verdict, rate);
}
