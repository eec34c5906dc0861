import { readFile } from 'node:fs/promises';
import type { DescribedDetector, DetectorsPort } from '../../../api/operations/operations.ts';
import { settingsDigest } from '../../../config/config.ts';
import { readDetectorsFile } from '../../../config/detectors-file.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import type { LocalTimes } from '../../../time/local-times.ts';

const WEEK_MS = 7 * 86_400_000;
const NAME = 'detectors';

const NO_DETECTORS = '# There is no detectors file: name it with DETECTORS.\n';

export async function detectorsFileText(path: string | null): Promise<string> {
  return path === null ? NO_DETECTORS : readFile(path, 'utf8');
}

/** The detectors of a text, or every problem of it. */
export function describeDetectors(text: string): Awaited<ReturnType<DetectorsPort['describe']>> {
  const problems: string[] = [];
  const file = readDetectorsFile(NAME, text, problems);
  if (file === null || problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'detectors', detectors: file.stream.detectors.map(described) };
}

type Written = LoadedConfig['stream']['detectors'][number];

function described({ name, series, group, by, model, settings, events, unit, timezone }: Written): DescribedDetector {
  const { freq, alarmRate, context, gapLimit } = settings;
  const perWeek = alarmRate === null || freq.kind !== 'fixed' ? null : (alarmRate * WEEK_MS) / freq.stepMs;
  const rarity = alarmRate === null ? 'off' : `1 in ${Math.round(1 / alarmRate)} rows`;
  const shown = {
    freq: freq.alias,
    h: settings.h,
    detection_size: settings.detectionSize,
    step_size: settings.stepSize,
    level: settings.level,
    threshold_method: settings.thresholdMethod,
    by: by === null ? null : by.join(', '),
    calibration: settings.calibration,
    calibration_size: settings.calibrationSize,
    false_alarms: perWeek === null ? rarity : `${Number(perWeek.toPrecision(3))}/week`,
    context,
    gap_limit: gapLimit,
    jitter_ms: settings.jitterMs,
    grace: settings.grace,
    direction: events.direction,
    min_deviation: events.minDeviation,
    unit: unit ?? null,
    timezone: timezone ?? null,
    min_deviation_share: `${events.minDeviationShare * 100}%`,
    quiet: events.quiet.length === 0 ? null : events.quiet.map(timesText).join(', '),
  };
  // A missing one is that of the model, before and after a change alike.
  const digest = settingsDigest({ settings: { ...settings, context: context ?? 0, gapLimit: gapLimit ?? 0 } });
  return {
    name,
    series,
    // What the groups have in common, as their ids show it.
    group: by === null ? group : `{${by.join(',')}}`,
    model,
    settings: shown,
    digest,
    alarmsPerWeek: perWeek,
  };
}

/** `02:00-04:00 UTC sat sun`, or from one instant to another. */
function timesText(times: LocalTimes): string {
  if ('startMs' in times) return `${new Date(times.startMs).toJSON()}-${new Date(times.endMs).toJSON()}`;
  const clock = (minute: number) =>
    [Math.floor(minute / 60), minute % 60].map((n) => `${n}`.padStart(2, '0')).join(':');
  return [`${clock(times.from)}-${clock(times.to)}`, times.timeZone, ...times.days, ...times.dates].join(' ');
}
