import type { DetectorConfig } from '../../../config/config.ts';
import { globPattern } from '../../../config/glob.ts';
import type { StreamDetectionSettings } from '../../../detector/calibration/settings.ts';
import { NO_RULES } from '../../../detector/event/event-rules.ts';
import { type SeriesLayout, seriesLayout } from '../../../detector/memory/series-memory.ts';
import type { Forecaster } from '../../../forecast/forecaster.ts';

/** A detector of the detectors file with the model it runs on. */
export interface BoundDetector {
  readonly config: DetectorConfig;
  readonly forecaster: Forecaster;
  readonly modelDigest: string;
  /** Digest of settings and model. State with another digest is not restored. */
  readonly digest: string;
  readonly layout: SeriesLayout;
}

export function bindDetector(
  config: DetectorConfig,
  model: { readonly forecaster: Forecaster; readonly digest: string },
  settingsDigest: string,
): BoundDetector {
  return {
    config,
    forecaster: model.forecaster,
    modelDigest: model.digest,
    digest: `${settingsDigest.slice(0, 12)}-${model.digest.slice(0, 12)}`,
    layout: seriesLayout(config.settings),
  };
}

export function isGrouped({ config }: BoundDetector): boolean {
  return config.settings.thresholdMethod === 'multivariate';
}

/** Whether the time steps of both are the same. */
export function sameGrid({ config: a }: BoundDetector, { config: b }: BoundDetector): boolean {
  const [{ alias: _, ...one }, { alias: __, ...other }] = [a.settings.freq, b.settings.freq];
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

/** Stands for a detector of the past, whose states are read and never continued. */
export function retiredDetector(digest: string, settings: StreamDetectionSettings): BoundDetector {
  const config: DetectorConfig = {
    name: '',
    series: [],
    group: null,
    model: '',
    settings,
    events: NO_RULES,
    labels: {},
  };
  const forecaster: Forecaster = {
    limits: { context: 0, contextBuckets: [], horizonMax: 0 },
    forecast: () => Promise.reject(new TypeError('a retired detector forecasts nothing')),
  };
  return { config, forecaster, modelDigest: '', digest, layout: seriesLayout(settings) };
}

/** Size of the cache of matches. A full cache is cleared. */
const MATCHES_MAX = 200_000;

/** Finds the detector of a series: the first one with a glob that matches; null when there is none. */
export function matchDetectors<D extends { readonly config: Pick<DetectorConfig, 'series'> }>(
  detectors: readonly D[],
): (series: string) => D | null {
  const compiled = detectors.map((detector) => ({ detector, pattern: globPattern(detector.config.series) }));
  const matches = new Map<string, D | null>();
  return (series) => {
    const known = matches.get(series);
    if (known !== undefined) return known;
    const match = compiled.find(({ pattern }) => pattern.test(series))?.detector ?? null;
    if (matches.size >= MATCHES_MAX) matches.clear();
    matches.set(series, match);
    return match;
  };
}
