import { completeDetector } from '../../../config/complete-detector.ts';
import type { ConfigResult, WrittenDetector } from '../../../config/config.ts';
import { detectorKinds } from '../../../config/keys/detector-keys.ts';
import { commandFlag, type OptionValues } from '../../../config/options/option.ts';
import { mustBe } from '../../../config/schema/problems.ts';
import type { Frequency } from '../../../time/frequency.ts';

const DETECTION_SIZE_DEFAULT = 24;
/** No record is read here, so any path will do. */
const GROUP_PATH = 'group';

export const detectorFlags = {
  freq: commandFlag('freq', detectorKinds.freq, 'time step: 5min, h, D ... (default: the median step of the file)'),
  aggregate: commandFlag(
    'aggregate',
    detectorKinds.aggregate,
    'combines the points of a step: mean, sum, min, max, last, count, p50 or p95',
  ),
  as: commandFlag('as', detectorKinds.as, 'for values of a counter: scores their rate or their increase'),
  h: commandFlag('h', detectorKinds.windowLength, 'observations that a forecast covers (default: --detection-size)'),
  detectionSize: commandFlag(
    'detection-size',
    detectorKinds.windowLength,
    `observations of a detection window (default: --h, or ${DETECTION_SIZE_DEFAULT})`,
  ),
  stepSize: commandFlag('step-size', detectorKinds.windowLength, 'observations between forecasts (default: --h)'),
  level: commandFlag('level', detectorKinds.level, 'confidence level in percent (default: 99)'),
  thresholdMethod: commandFlag(
    'threshold-method',
    detectorKinds.thresholdMethod,
    'univariate (default) or multivariate',
  ),
  calibration: commandFlag(
    'calibration',
    detectorKinds.calibration,
    'how residuals become an interval: robust (default) or plain',
  ),
  calibrationSize: commandFlag(
    'calibration-size',
    detectorKinds.calibrationSize,
    'newest observations that calibrate the interval, or all (default: 12 x --detection-size)',
  ),
  falseAlarms: commandFlag(
    'false-alarms',
    detectorKinds.falseAlarms,
    'target rate of false alarms of a series, such as 1/week, or off (default: 1/week, from 1 in 50,000 to 1 in 1,000)',
  ),
  timezone: commandFlag('timezone', detectorKinds.timezone, 'time zone of hours and weekdays (default: UTC)'),
  profile: commandFlag(
    'profile',
    detectorKinds.profile,
    'the seasonal profile of hours and weekdays: on (default) or off',
  ),
  model: commandFlag('model', detectorKinds.model, 'a model that `models` lists (default: tsmodel-1-detection)'),
};

export type DetectorFlagValues = OptionValues<typeof detectorFlags>;

/** One detector for all series, completed and checked like an entry of a detectors file. */
export function detectorOfFlags(values: DetectorFlagValues, freq: Frequency): ConfigResult<WrittenDetector> {
  const problems: string[] = [];
  const { h, thresholdMethod, stepSize, level, calibration, calibrationSize, falseAlarms, model, timezone, profile } =
    values;
  const { aggregate, as } = values;
  const detectionSize = values.detectionSize ?? h ?? DETECTION_SIZE_DEFAULT;
  const group = thresholdMethod === 'multivariate' ? GROUP_PATH : undefined;
  const alarms = { falseAlarms, timezone, profile };
  const points = { stepSize, aggregate, as };
  const fields = { ...points, level, thresholdMethod, group, model, calibration, calibrationSize, ...alarms };
  const written = new Set([group && 'group', stepSize && 'step_size']);
  const detector = completeDetector(
    { ...fields, name: 'backtest', series: ['*'], freq, h: h ?? detectionSize, detectionSize },
    {
      has: (key) => written.has(key),
      problem: (key, expected, got) => void problems.push(mustBe(`--${key.replaceAll('_', '-')}`, expected, got)),
    },
  );
  if (detector === null || problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'config', config: detector };
}
