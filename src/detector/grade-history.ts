import { ALARM_NUMBERS, judgeRow, NO_VERDICT, type Unusualness, type Verdict } from './alarm.ts';
import { GradeTerms } from './grade-terms.ts';
import { GROUP_SCALE_NUMBERS, unusualGroup } from './group-unusualness.ts';
import { arrivalForecastAt, countingCutoffs, type History } from './history.ts';
import { observeResolution } from './resolution.ts';
import { SCALARS, SeriesMemory, seriesLayout } from './series-memory.ts';
import { SeriesRings } from './series-rings.ts';
import type { DetectionSettings } from './settings.ts';

/**
 * Grade, severity and alarm of every position of each history, from the same recurrence that the stream runs: position
 * by position, with the forecasts that it would have had.
 */
export function gradeHistories(histories: readonly History[], settings: DetectionSettings): Verdict[][] {
  const { alarmRate, detectionSize, thresholdMethod } = settings;
  if (alarmRate === null) return histories.map(({ values }) => Array(values.length).fill(NO_VERDICT));
  const promise = { rate: alarmRate, gap: detectionSize };
  const unusual = histories.map((history) => unusualnessOf(history, settings));
  if (thresholdMethod === 'univariate') return unusual.map((rows) => verdictsOn(rows, { ...promise, isGroup: false }));
  const scales = new Float64Array(GROUP_SCALE_NUMBERS);
  const steps = (unusual[0] ?? []).map((_, step) =>
    unusualGroup(
      scales,
      unusual.map((rows) => rows[step]),
    ),
  );
  const verdicts = verdictsOn(steps, { ...promise, isGroup: true });
  return histories.map(() => verdicts);
}

function verdictsOn(rows: readonly (Unusualness | null)[], promise: Parameters<typeof judgeRow>[3]): Verdict[] {
  const state = new Float64Array(ALARM_NUMBERS);
  return rows.map((row) => judgeRow(state, 0, row, promise));
}

function unusualnessOf(history: History, settings: DetectionSettings): (Unusualness | null)[] {
  const rings = new SeriesRings(new SeriesMemory(seriesLayout(settings)));
  const terms = new GradeTerms(rings);
  const resolutionAt = rings.scalarIndex(SCALARS.resolution);
  const { values, observed, segments, modelDeviations } = history;
  const counting = new Set(countingCutoffs(history, settings));
  return Array.from(values, (distance, position) => {
    if (position > 0 && segments.some(({ start }) => start === position)) {
      rings.setScalar(SCALARS.contextStart, position);
      rings.forgetDistances();
    }
    if (counting.has(position)) rings.setScalar(SCALARS.modelDeviation, modelDeviations.get(position) ?? 0);
    rings.keepDistance(position, distance);
    const value = observed[position];
    const row = terms.observe({ position, value, distance, forecast: arrivalForecastAt(history, position) });
    observeResolution(rings.doubles, resolutionAt, value);
    return row;
  });
}
