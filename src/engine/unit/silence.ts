import type { FoundSilence } from '../../checkpoint/arrival-state.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { CALIBRATION_WINDOWS_MIN } from '../../detection/calibration/threshold.ts';
import { SCALARS } from '../../detection/memory/series-memory.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import { type InputPlace, inputAt, type SilenceCause } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { OpenSteps } from './open-steps.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';
import { scoreOfRow } from './series-score.ts';
import type { UnitEvents } from './unit-events.ts';

/** A series with so many gaps of the length in its context is irregular: its silence means nothing. */
const IRREGULAR_GAPS = 3;

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

/** After so long without a record a unit is silent; null if that means nothing. */
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

interface SilentUnit {
  readonly loaded: LoadedDetector;
  readonly place: InputPlace;
  readonly group: string | null;
}

/** A series that has stopped, or sends again. */
interface Silence {
  readonly state: 'silent' | 'returned';
  readonly cause: SilenceCause | null;
  readonly series: string;
  readonly detector: SeriesDetector;
  readonly timestampMs: number;
  /** There is no observation of a silent series: its last value, and the position of the next one. */
  readonly value: number;
  readonly position: number;
  readonly lastOffset: number;
}

/** @param foundAt offset of the record that showed it, or at which the clock decided */
export function publishSilence(
  { loaded, place, group }: SilentUnit,
  { state, position, detector, lastOffset, cause, ...silence }: Silence,
  { foundAt, sink }: { readonly foundAt: number; readonly sink: ScoreSink },
): void {
  const row = { ...UNOBSERVED, state, position, windowStart: detector.windowStart };
  const input = inputAt(place, lastOffset);
  const context = { loaded, cause, restarted: false, input, accumulatedScore: Number.NaN };
  sink.outputs.silence(scoreOfRow(row, { ...silence, group }, context), foundAt);
}

interface SilentSeries extends SilentUnit {
  readonly key: string;
  readonly detector: SeriesDetector;
  readonly events: UnitEvents;
  readonly steps: OpenSteps | null;
  silent: boolean;
}

type SilenceOfSeries = Pick<ReceivedObservation, 'record' | 'timestampMs'> & { readonly silence: FoundSilence };

/** The series has stopped: it is reported where that is news. */
export function fallSilent(
  series: SilentSeries,
  { record, timestampMs, silence }: SilenceOfSeries,
  sink: ScoreSink,
): void {
  const { key, loaded, detector, steps, events } = series;
  const { silenceAfter } = loaded.config.settings;
  if (isShortLived(detector)) sink.lifecycle.endedEarly(loaded, key);
  if (series.silent || silenceAfter === null || !isNewsSilent(detector, silenceAfter)) return;
  if (steps !== null) steps.silentOffset = silence.lastOffset;
  series.silent = true;
  const { offset: foundAt } = record;
  const at = { timestampMs, position: detector.positions, lastOffset: silence.lastOffset };
  events.fallSilent({ ...at, offset: foundAt, member: null, allSilent: true }, sink);
  const value = detector.rings.scalar(SCALARS.resolution);
  const { cause } = silence;
  publishSilence(series, { ...at, state: 'silent', cause, series: key, detector, value }, { foundAt, sink });
}

/** An observation of a silent series: it sends again. */
export function returnFromSilence(series: SilentSeries, observation: ReceivedObservation, sink: ScoreSink): void {
  const { record, timestampMs, value } = observation;
  const { offset } = record;
  // A step that was open as its series fell silent, and has no point since, does not show that it is back.
  if (offset <= (series.steps?.silentOffset ?? Number.NaN)) return;
  series.silent = false;
  const { key, detector, events } = series;
  const at = { timestampMs, position: detector.positions };
  events.returned({ ...at, offset }, sink);
  const silence = { state: 'returned', cause: null, series: key, detector, value, lastOffset: offset } as const;
  publishSilence(series, { ...at, ...silence }, { foundAt: offset, sink });
}
