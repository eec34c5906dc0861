import { type Frequency, meanStepMs, parseFrequency } from '../calendar/frequency.ts';
import {
  alarmRateOf,
  FALSE_ALARMS_EXPECTED,
  type FalseAlarms,
  parseFalseAlarms,
} from '../detector/alarm/false-alarms.ts';
import type { CalibrationMethod, CalibrationSize } from '../detector/calibration/settings.ts';
import { CALIBRATION_WINDOWS_MIN } from '../detector/calibration/threshold.ts';
import { type EventRules, NO_RULES } from '../detector/event/event-rules.ts';
import { CONTEXT_MIN } from '../forecast/context-length.ts';
import type { WrittenDetector } from './config.ts';
import { readEventRules, readLabels } from './event-section.ts';
import {
  durationMs,
  integerFrom,
  type Kind,
  numberBelow,
  oneOf,
  recordPath,
  text,
  textMatching,
  textOf,
} from './kinds.ts';
import type { Section } from './yaml-section.ts';

/** Upper bound of lengths in observations: a typing error must not fill the memory. */
const LENGTH_MAX = 1_000_000;
/** The open window of a series must fit into one record of the changelog. */
const DETECTION_SIZE_MAX = 10_000;
const GRACE_MAX = 1_000;
const DEFAULT_MODEL = 'tsmodel-1';
const DEFAULT_LEVEL = 99;
const DEFAULT_GRACE = 1;
/** Records that wait are part of the state. */
const LATENESS_STEPS_MAX = 64;
const SILENCE_STEPS_MIN = 5;
const SILENCE_MS_MIN = 300_000;
/** Share of a step. */
const DEFAULT_JITTER = 0.5;
const DEFAULT_CALIBRATION = 'robust';

/** Default calibration size in detection windows: twice the minimum. */
const CALIBRATION_WINDOWS_DEFAULT = 2 * CALIBRATION_WINDOWS_MIN;

const length = integerFrom(1, LENGTH_MAX);
const windowLength = integerFrom(1, DETECTION_SIZE_MAX);
const calibrationSize: Kind<CalibrationSize> = {
  expected: `all or ${length.expected}`,
  fromText: (text) => (text === 'all' ? text : length.fromText(text)),
  fromValue: (value) => (value === 'all' ? value : length.fromValue(value)),
};

const stepsOrOff: Kind<number | 'off'> = {
  expected: `off or ${length.expected}`,
  fromText: (text) => (text === 'off' ? text : length.fromText(text)),
  fromValue: (value) => (value === 'off' ? value : length.fromValue(value)),
};

/** Infinity: never. */
const durationOrOff: Kind<number> = {
  expected: `off or ${durationMs.expected}`,
  fromText: (text) => (text === 'off' ? Number.POSITIVE_INFINITY : durationMs.fromText(text)),
  fromValue: (value) => (value === 'off' ? Number.POSITIVE_INFINITY : durationMs.fromValue(value)),
};

/** Kinds of the keys of a detector, in a detectors file and as flags. */
export const detectorKinds = {
  name: textMatching('1 to 64 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,64}$/),
  model: textMatching('1 to 36 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,36}$/),
  freq: textOf<Frequency>(
    'a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B',
    (alias) => parseFrequency(alias) ?? undefined,
  ),
  windowLength,
  level: numberBelow(0, 100),
  thresholdMethod: oneOf('univariate', 'multivariate'),
  calibration: oneOf('plain', 'robust'),
  calibrationSize,
  falseAlarms: textOf<FalseAlarms>(FALSE_ALARMS_EXPECTED, parseFalseAlarms),
};

/** The fields of a detector as written; undefined where missing or invalid. */
export interface DetectorFields {
  readonly name: string | undefined;
  readonly series: readonly string[] | undefined;
  readonly freq: Frequency | undefined;
  readonly h: number | undefined;
  readonly detectionSize: number | undefined;
  readonly stepSize?: number | undefined;
  readonly level?: number | undefined;
  readonly thresholdMethod?: 'univariate' | 'multivariate' | undefined;
  readonly group?: string | undefined;
  readonly model?: string | undefined;
  readonly calibration?: CalibrationMethod | undefined;
  readonly calibrationSize?: CalibrationSize | undefined;
  readonly falseAlarms?: FalseAlarms | undefined;
  readonly context?: number | undefined;
  readonly gapLimit?: number | undefined;
  readonly jitterMs?: number | undefined;
  readonly latenessMs?: number | undefined;
  readonly silenceAfter?: number | 'off' | undefined;
  readonly idleMs?: number | undefined;
  readonly grace?: number | undefined;
  readonly events?: EventRules | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Where the fields come from: which keys were written, and where problems between keys are reported. */
export type DetectorSource = Pick<Section, 'has' | 'problem'>;

/** Reads one entry of `detectors`; null where a problem makes further checks meaningless. */
export function readDetector(section: Section): WrittenDetector | null {
  const fields = {
    name: section.read('name', detectorKinds.name, 'required'),
    series: section.readList('series', text, 'required'),
    freq: section.read('freq', detectorKinds.freq, 'required'),
    h: section.read('h', windowLength, 'required'),
    detectionSize: section.read('detection_size', windowLength, 'required'),
    stepSize: section.read('step_size', windowLength),
    level: section.read('level', detectorKinds.level),
    thresholdMethod: section.read('threshold_method', detectorKinds.thresholdMethod),
    group: section.read('group', recordPath),
    model: section.read('model', detectorKinds.model),
    calibration: section.read('calibration', detectorKinds.calibration),
    calibrationSize: section.read('calibration_size', detectorKinds.calibrationSize),
    falseAlarms: section.read('false_alarms', detectorKinds.falseAlarms),
    context: section.read('context', integerFrom(CONTEXT_MIN, LENGTH_MAX)),
    gapLimit: section.read('gap_limit', integerFrom(0, LENGTH_MAX)),
    jitterMs: section.read('jitter', durationMs),
    latenessMs: section.read('allowed_lateness', durationMs),
    silenceAfter: section.read('silence_after', stepsOrOff),
    idleMs: section.read('idle_limit', durationOrOff),
    grace: section.read('grace', integerFrom(0, GRACE_MAX)),
    events: readEventRules(section.section('events')),
    labels: readLabels(section.section('labels')),
  };
  section.close();
  return completeDetector(fields, section);
}

/** Sets defaults, and checks the fields against each other; null where a required field is missing. */
export function completeDetector(fields: DetectorFields, source: DetectorSource): WrittenDetector | null {
  const { name, series, freq, h, detectionSize, group, calibrationSize } = fields;
  const stepSize = source.has('step_size') ? fields.stepSize : h;
  const thresholdMethod = fields.thresholdMethod ?? 'univariate';
  if (thresholdMethod === 'multivariate' && !source.has('group')) {
    source.problem('group', 'the path of the group id, as threshold_method is multivariate', undefined);
  }
  if (thresholdMethod === 'univariate' && source.has('group')) {
    source.problem('group', 'absent, as threshold_method is univariate', group);
  }
  if (thresholdMethod === 'multivariate' && calibrationSize === 'all') {
    source.problem('calibration_size', `${length.expected}, as threshold_method is multivariate`, calibrationSize);
  }
  const waiting = (fields.latenessMs ?? 0) / (freq === undefined ? 1 : meanStepMs(freq));
  if (freq !== undefined && waiting > LATENESS_STEPS_MAX) {
    const expected = `at most ${LATENESS_STEPS_MAX} steps of ${freq.alias}`;
    source.problem('allowed_lateness', expected, inSeconds(fields.latenessMs ?? 0));
  }
  if (detectionSize !== undefined) checkLengths(source, { detectionSize, h, stepSize, calibrationSize });
  if (!name || !series || !freq || !h || !detectionSize || !stepSize) return null;
  const silenceAfter = silenceAfterOf(fields, freq);
  const idleMin = Math.max(fields.latenessMs ?? 0, ((silenceAfter ?? 0) + 1) * meanStepMs(freq));
  if (fields.idleMs !== undefined && fields.idleMs < idleMin) {
    const expected = `at least ${inSeconds(idleMin)}, as silence_after or allowed_lateness demands`;
    source.problem('idle_limit', expected, inSeconds(fields.idleMs));
  }
  return {
    name,
    series,
    group: group ?? null,
    model: fields.model ?? DEFAULT_MODEL,
    events: fields.events ?? NO_RULES,
    labels: fields.labels ?? {},
    settings: {
      freq,
      h,
      detectionSize,
      stepSize,
      level: fields.level ?? DEFAULT_LEVEL,
      thresholdMethod,
      calibration: fields.calibration ?? DEFAULT_CALIBRATION,
      alarmRate: alarmRateOf(fields, freq),
      calibrationSize: calibrationSize ?? CALIBRATION_WINDOWS_DEFAULT * detectionSize,
      context: fields.context ?? null,
      gapLimit: fields.gapLimit ?? null,
      latenessMs: fields.latenessMs ?? 0,
      silenceAfter,
      idleMs: fields.idleMs ?? null,
      jitterMs: fields.jitterMs ?? (freq.kind === 'fixed' ? freq.stepMs * DEFAULT_JITTER : 0),
      grace: fields.grace ?? DEFAULT_GRACE,
    },
  };
}

function inSeconds(ms: number): string {
  return `${ms / 1_000}s`;
}

/** By default five steps, and at least five minutes. */
function silenceAfterOf({ silenceAfter, thresholdMethod }: DetectorFields, freq: Frequency): number | null {
  if (silenceAfter === 'off') return null;
  // Members of a group may come and go: it says so only where that is asked for.
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
