import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { CALIBRATION_WINDOWS_MIN } from '../../detection/calibration/threshold.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { InputPlace } from '../../records/input-place.ts';
import type { ScoreRecord, SilenceCause } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import { seriesScore } from './series-score.ts';

/** A series with so many gaps of the length in its context is irregular: its silence means nothing. */
const IRREGULAR_GAPS = 3;

/** A series that has stopped, or sends again. */
interface Silence {
  readonly state: 'silent' | 'returned';
  readonly cause: SilenceCause | null;
  readonly series: string;
  readonly timestampMs: number;
  readonly loaded: LoadedDetector;
  readonly detector: SeriesDetector;
  readonly input: InputPlace & { readonly offset: number };
  /** Left out: that of the next observation. */
  readonly position?: number;
}

/** The detection of a step where nothing was observed. */
const UNOBSERVED = {
  forecast: Number.NaN,
  lo: Number.NaN,
  hi: Number.NaN,
  score: Number.NaN,
  grade: Number.NaN,
  severity: Number.NaN,
  anomaly: false,
  alarm: false,
};

/** After so long without a record a unit is silent; null where that means nothing. */
export function silenceMs({ freq, silenceAfter }: StreamDetectionSettings): number | null {
  return silenceAfter === null ? null : (silenceAfter + 0.5) * meanStepMs(freq);
}

/** True if a series has fewer residuals than calibrate it. */
export function isShortLived({ rings, settings }: SeriesDetector): boolean {
  return rings.calibration.samples < CALIBRATION_WINDOWS_MIN * settings.detectionSize;
}

/**
 * Whether it is news that a series stopped: it has run for a while, without such gaps.
 * @param end of its observations; a member of a group has missing values after them, and before it joined
 */
export function isNewsSilent(
  { positions, layout, rings }: SeriesDetector,
  silenceAfter: number,
  end: number | null = null,
): boolean {
  let start = Math.max(0, positions - layout.contextCapacity);
  if (end !== null) while (start < end && Number.isNaN(rings.distanceAt(start))) start++;
  const last = end ?? positions;
  if ((end === null ? last : last - start) <= silenceAfter) return false;
  let gaps = 0;
  let missing = 0;
  for (let position = start; position < last; position++) {
    missing = Number.isNaN(rings.distanceAt(position)) ? missing + 1 : 0;
    if (missing === silenceAfter) gaps++;
  }
  return gaps < IRREGULAR_GAPS;
}

/** There is no observation: the value is the last one, and the position that of the next. */
export function silenceRecord(
  { state, cause, series, timestampMs, loaded, detector, input, position = detector.positions }: Silence,
  value: number,
): ScoreRecord {
  const { windowStart } = detector;
  const score = seriesScore(
    { ...UNOBSERVED, state, windowStart, position },
    { loaded, series, timestampMs, value, restarted: false, input },
  );
  return { ...score, cause };
}
