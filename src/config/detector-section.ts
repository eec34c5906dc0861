import { CONTEXT_MIN } from '../detector/cross-validation.ts';
import { type Frequency, parseFrequency } from '../detector/frequency.ts';
import type { CalibrationSize } from '../detector/settings.ts';
import type { WrittenDetector } from './config.ts';
import { integerFrom, type Kind, numberBelow, oneOf, recordPath, text, textMatching, textOf } from './kinds.ts';
import type { Section } from './yaml-section.ts';

/** No length in observations may be longer: a slip of the keyboard should not fill the memory. */
const LENGTH_MAX = 1_000_000;
/** The open window of a series must fit into one record of the changelog. */
const DETECTION_SIZE_MAX = 10_000;
const GRACE_MAX = 1_000;
const DEFAULT_MODEL = 'tsmodel-1';

/** Calibration needs this many detection windows of forecasted positions; by default twice as many are kept. */
const CALIBRATION_WINDOWS_MIN = 6;
const CALIBRATION_WINDOWS_DEFAULT = 12;

const length = integerFrom(1, LENGTH_MAX);
const windowLength = integerFrom(1, DETECTION_SIZE_MAX);
const detectorName = textMatching('1 to 64 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,64}$/);
const modelName = textMatching('1 to 36 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,36}$/);
const frequency: Kind<Frequency> = textOf(
  'a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B',
  (alias) => parseFrequency(alias) ?? undefined,
);
const calibrationSize: Kind<CalibrationSize> = {
  expected: `all or ${length.expected}`,
  fromText: () => undefined,
  fromValue: (value) => (value === 'all' ? value : length.fromValue(value)),
};

/** Reads one entry of `detectors`; null where it has a problem that leaves the others meaningless. */
export function readDetector(section: Section): WrittenDetector | null {
  const name = section.read('name', detectorName, 'required');
  const series = section.readList('series', text, 'required');
  const freq = section.read('freq', frequency, 'required');
  const h = section.read('h', windowLength, 'required');
  const detectionSize = section.read('detection_size', windowLength, 'required');
  const writtenStep = section.read('step_size', windowLength);
  const stepSize = section.has('step_size') ? writtenStep : h;
  const level = section.read('level', numberBelow(0, 100)) ?? 99;
  const method = section.read('threshold_method', oneOf('univariate', 'multivariate')) ?? 'univariate';
  const group = section.read('group', recordPath);
  const model = section.read('model', modelName) ?? DEFAULT_MODEL;
  const calibration = section.read('calibration_size', calibrationSize);
  const context = section.read('context', integerFrom(CONTEXT_MIN, LENGTH_MAX));
  const gapLimit = section.read('gap_limit', integerFrom(0, LENGTH_MAX)) ?? detectionSize;
  const grace = section.read('grace', integerFrom(0, GRACE_MAX)) ?? 1;
  section.close();

  if (method === 'multivariate' && !section.has('group')) {
    section.problem('group', 'the path of the group id, as threshold_method is multivariate', undefined);
  }
  if (method === 'univariate' && section.has('group')) {
    section.problem('group', 'absent, as threshold_method is univariate', group);
  }
  if (method === 'multivariate' && calibration === 'all') {
    section.problem('calibration_size', `${length.expected}, as threshold_method is multivariate`, calibration);
  }
  if (detectionSize !== undefined) checkLengths(section, detectionSize, h, stepSize, calibration);
  if (!name || !series || !freq || !h || !detectionSize || !stepSize || gapLimit === undefined) return null;
  return {
    name,
    series,
    group: group ?? null,
    model,
    settings: {
      freq,
      h,
      detectionSize,
      stepSize,
      level,
      thresholdMethod: method,
      calibrationSize: calibration ?? CALIBRATION_WINDOWS_DEFAULT * detectionSize,
      context: context ?? null,
      gapLimit,
      grace,
    },
  };
}

/** The cutoffs of all windows must lie on one grid, and calibration must be reachable. */
function checkLengths(
  section: Section,
  detectionSize: number,
  h: number | undefined,
  stepSize: number | undefined,
  calibration: CalibrationSize | undefined,
): void {
  if (h !== undefined && h > detectionSize) {
    section.problem('h', `at most detection_size (${detectionSize})`, h);
  } else if (stepSize !== undefined && detectionSize % stepSize !== 0) {
    section.problem('detection_size', `a multiple of step_size (${stepSize})`, detectionSize);
  }
  const calibrationMin = CALIBRATION_WINDOWS_MIN * detectionSize;
  if (typeof calibration === 'number' && calibration < calibrationMin) {
    const expected = `at least ${CALIBRATION_WINDOWS_MIN} x detection_size (${calibrationMin})`;
    section.problem('calibration_size', expected, calibration);
  }
}
