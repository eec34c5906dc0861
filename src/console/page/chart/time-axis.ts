import uPlot from 'uplot';
import { dayText, momentText, zoneOfTimes } from '../../view/words/value-words.ts';

/** So that the axis has its marks at full hours and days of the shown clock. */
export const shownDate = (at: number) => uPlot.tzDate(new Date(at), zoneOfTimes());

/** Clock times, with the day below wherever another one begins. */
export function timeLabels(_chart: uPlot, splits: number[]): string[] {
  return splits.map((at, i) => {
    const [clock, day] = [momentText(at).slice(11, 16), dayText(at)];
    if (i > 0 && day === dayText(splits[i - 1])) return clock;
    return clock === '00:00' ? day : `${clock}\n${day}`;
  });
}
