import { type LoadedConfig, settingsDigest } from '../../config/config.ts';
import { readDetectorsFile } from '../../config/detectors-file.ts';
import type { DescribedDetector, DetectorsPort } from '../../sidecar/operations/operations.ts';

const WEEK_MS = 7 * 86_400_000;
const NAME = 'detectors';

/** The detectors of a text, or every problem of it. */
export const describeDetectors: DetectorsPort['describe'] = async (text) => {
  const problems: string[] = [];
  const file = readDetectorsFile(NAME, text, problems);
  if (file === null || problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'detectors', detectors: file.stream.detectors.map(described) };
};

type Written = LoadedConfig['stream']['detectors'][number];

function described({ name, series, group, model, settings, ...rest }: Written): DescribedDetector {
  const { freq, alarmRate, thresholdMethod, calibration, context, gapLimit, jitterMs, grace } = settings;
  const stepMs = freq.kind === 'fixed' ? freq.stepMs : null;
  const shown = {
    freq: freq.alias,
    h: settings.h,
    detection_size: settings.detectionSize,
    step_size: settings.stepSize,
    level: settings.level,
    threshold_method: thresholdMethod,
    calibration,
    calibration_size: settings.calibrationSize,
    // A rate a row, as a share of rows; per week it is easier to read.
    false_alarms: alarmRate === null ? 'off' : `1 in ${Math.round(1 / alarmRate)} rows`,
    context,
    gap_limit: gapLimit,
    jitter_ms: jitterMs,
    grace,
    ...rulesOf(rest),
  };
  const digest = settingsDigest({ settings: { ...settings, context: context ?? 0, gapLimit: gapLimit ?? 0 } });
  const alarmsPerWeek = alarmRate === null || stepMs === null ? null : (alarmRate * WEEK_MS) / stepMs;
  return { name, series, group, model, settings: shown, digest, alarmsPerWeek };
}

/** Rules and labels that differ from none, as text. */
function rulesOf(rest: object): Readonly<Record<string, string>> {
  const given = Object.entries(rest).filter(([, value]) => value !== null && typeof value === 'object');
  return Object.fromEntries(
    given.flatMap(([name, value]) => (Object.keys(value).length === 0 ? [] : [[name, JSON.stringify(value)]])),
  );
}
