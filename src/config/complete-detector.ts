import { alarmRateOf } from '../detection/alarm/false-alarms.ts';
import { CALIBRATION_WINDOWS_MIN } from '../detection/calibration/threshold.ts';
import { NO_RULES } from '../detection/event/open/event-rules.ts';
import { type Frequency, meanStepMs } from '../time/frequency.ts';
import type { WrittenDetector } from './config.ts';
import {
  CALIBRATION_WINDOWS_DEFAULT,
  DETECTOR_DEFAULTS,
  type DetectorFields,
  JITTER_STEPS,
  LATENESS_STEPS_MAX,
  LEVEL_DEFAULT,
  length,
  SILENCE_MS_MIN,
  SILENCE_STEPS_MIN,
} from './keys/detector-keys.ts';
import { calendarOf } from './keys/profile-keys.ts';
import type { MappingPlace } from './schema/place.ts';

/** Keys that were written, and a report of problems between them. */
export type DetectorSource = Pick<MappingPlace, 'has' | 'problem'>;

/** Sets defaults, and checks the fields against each other; null if a required field is missing. */
export function completeDetector(fields: DetectorFields, source: DetectorSource): WrittenDetector | null {
  const { name, series, freq, h, detectionSize, group, calibrationSize, aggregate, as } = fields;
  const stepSize = source.has('step_size') ? fields.stepSize : h;
  const { thresholdMethod = DETECTOR_DEFAULTS.thresholdMethod, latenessMs = DETECTOR_DEFAULTS.latenessMs } = fields;
  checkGroups(source, fields, thresholdMethod);
  if (thresholdMethod === 'multivariate' && calibrationSize === 'all') {
    source.problem('calibration_size', `${length.expected}, because threshold_method is multivariate`, calibrationSize);
  }
  if (aggregate === 'count' && as !== undefined) {
    source.problem('as', 'absent, because aggregate is count: points are counted, regardless of their values', as);
  }
  const waiting = latenessMs / (freq === undefined ? 1 : meanStepMs(freq));
  if (freq !== undefined && waiting > LATENESS_STEPS_MAX) {
    const expected = `at most ${LATENESS_STEPS_MAX} steps of ${freq.alias}`;
    source.problem('allowed_lateness', expected, inSeconds(latenessMs));
  }
  if (detectionSize !== undefined) checkLengths(source, { detectionSize, h, stepSize, calibrationSize });
  if (!name || !series || !freq || !h || !detectionSize || !stepSize) return null;
  const silenceAfter = silenceAfterOf(fields, freq);
  const idleMin = Math.max(latenessMs, ((silenceAfter ?? 0) + 1) * meanStepMs(freq));
  const idleMs = fields.idleMs === 'off' ? Number.POSITIVE_INFINITY : fields.idleMs;
  if (idleMs !== undefined && idleMs < idleMin) {
    const expected = `at least ${inSeconds(idleMin)}, because of silence_after or allowed_lateness`;
    source.problem('idle_limit', expected, inSeconds(idleMs));
  }
  const calendar = calendarOf(fields);
  return {
    name,
    series,
    group: group ?? null,
    by: fields.by ?? null,
    model: fields.model ?? DETECTOR_DEFAULTS.model,
    events: fields.events ?? NO_RULES,
    // Whatever its name, each becomes a property of its own.
    labels: Object.fromEntries(fields.labels ?? []),
    ...(fields.spread && { isSpread: true }),
    unit: fields.unit ?? null,
    timezone: fields.timezone ?? null,
    settings: {
      freq,
      h,
      detectionSize,
      stepSize,
      level: fields.level ?? LEVEL_DEFAULT,
      thresholdMethod,
      calibration: fields.calibration ?? DETECTOR_DEFAULTS.calibration,
      alarmRate: alarmRateOf(fields, freq),
      calibrationSize: calibrationSize ?? CALIBRATION_WINDOWS_DEFAULT * detectionSize,
      context: fields.context ?? null,
      gapLimit: fields.gapLimit ?? null,
      latenessMs,
      silenceAfter,
      idleMs: idleMs ?? null,
      jitterMs: fields.jitterMs ?? (freq.kind === 'fixed' ? freq.stepMs * JITTER_STEPS : 0),
      grace: fields.grace ?? DETECTOR_DEFAULTS.grace,
      profile: calendar && { calendar, stepMs: meanStepMs(freq) },
      ...(aggregate !== undefined && { aggregate }),
      ...(as !== undefined && { as }),
    },
  };
}

/** Series that are scored together are named by one key. */
function checkGroups(source: DetectorSource, { group, by }: DetectorFields, thresholdMethod: string): void {
  if (thresholdMethod === 'univariate') {
    if (source.has('group')) source.problem('group', 'absent, because threshold_method is univariate', group);
    if (source.has('by')) source.problem('by', 'absent, because threshold_method is univariate', by?.join());
    return;
  }
  if (!source.has('group') && !source.has('by')) {
    source.problem(
      'group',
      'the path of the group id (or by with labels), because threshold_method is multivariate',
      undefined,
    );
  }
  if (source.has('group') && source.has('by')) source.problem('by', 'absent, because group is set', by?.join());
}

function inSeconds(ms: number): string {
  return `${ms / 1_000}s`;
}

/** By default five steps, and at least five minutes. */
function silenceAfterOf({ silenceAfter, thresholdMethod }: DetectorFields, freq: Frequency): number | null {
  if (silenceAfter === 'off') return null;
  // Members of a group may come and go: it is silent only where that is set.
  if (silenceAfter === undefined && thresholdMethod === 'multivariate') return null;
  return silenceAfter ?? Math.max(SILENCE_STEPS_MIN, Math.ceil(SILENCE_MS_MIN / meanStepMs(freq)));
}

/** The cutoffs of all windows must lie on one grid, and calibration must be reachable. */
function checkLengths(
  source: DetectorSource,
  lengths: Pick<DetectorFields, 'h' | 'stepSize' | 'calibrationSize'> & { readonly detectionSize: number },
): void {
  const { detectionSize, h, stepSize, calibrationSize: calibration } = lengths;
  if (h !== undefined && h > detectionSize) {
    source.problem('h', `at most detection_size (${detectionSize})`, h);
  } else if (stepSize !== undefined && detectionSize % stepSize !== 0) {
    source.problem('detection_size', `a multiple of step_size (${stepSize})`, detectionSize);
  }
  const calibrationMin = CALIBRATION_WINDOWS_MIN * detectionSize;
  if (typeof calibration === 'number' && calibration < calibrationMin) {
    const expected = `at least ${CALIBRATION_WINDOWS_MIN} x detection_size (${calibrationMin})`;
    source.problem('calibration_size', expected, calibration);
  }
}
