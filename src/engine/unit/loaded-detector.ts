import { createHash } from 'node:crypto';
import { type DetectorConfig, type GroupSource, groupSourceOf, type RecordMapping } from '../../config/config.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { NO_RULES } from '../../detection/event/open/event-rules.ts';
import { type SeriesLayout, seriesLayout } from '../../detection/memory/series-memory.ts';
import type { Forecaster } from '../../forecasting/forecaster.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import { labelsOfId } from '../../records/series/series-id.ts';
import { type IdentityOf, seriesIdentity } from '../../records/series/series-identity.ts';
import { seriesPattern } from '../../records/series/series-pattern.ts';

/** A detector of the detectors file with the model it runs on. */
export interface LoadedDetector {
  readonly config: DetectorConfig;
  readonly forecaster: Forecaster;
  readonly modelDigest: string;
  /** Digest of settings and model. State with another digest is not restored. */
  readonly digest: string;
  readonly layout: SeriesLayout;
}

/** `stateDigest` names the model in the digest of states; by default `digest` does. */
export function loadedDetector(
  config: DetectorConfig,
  model: { readonly forecaster: Forecaster; readonly digest: string; readonly stateDigest?: string },
  settingsDigest: string,
): LoadedDetector {
  return {
    config,
    forecaster: model.forecaster,
    modelDigest: model.digest,
    digest: `${settingsDigest.slice(0, 12)}-${(model.stateDigest ?? model.digest).slice(0, 12)}`,
    layout: seriesLayout(config.settings),
  };
}

export function isGrouped({ config }: LoadedDetector): boolean {
  return config.settings.thresholdMethod === 'multivariate';
}

/**
 * The position at which the first window of a series, or of a group, closes: its id decides, so that forecasts of those
 * that begin together do not all fall due at once. It must not depend on the partition, which is another digest of ids.
 */
export function phaseOf({ config: { isSpread, settings } }: LoadedDetector, id: string): number {
  if (!isSpread) return 0;
  return createHash('sha256').update(id).digest().readUInt32BE() % settings.detectionSize;
}

/** Extras that a detector uses: without `as` the replica alone, the others are of counters. */
export function extrasFor(
  { config }: { readonly config: { readonly settings: Pick<StreamDetectionSettings, 'as'> } },
  extras: PointExtras | undefined,
): PointExtras | undefined {
  if (config.settings.as !== undefined || extras === undefined) return extras;
  return extras.replica === undefined ? undefined : { replica: extras.replica };
}

/** True if the time steps of both are the same, and their values mean the same. */
export function sameGrid({ config: a }: LoadedDetector, { config: b }: LoadedDetector): boolean {
  const [{ alias: _, ...one }, { alias: __, ...other }] = [a.settings.freq, b.settings.freq];
  if (a.settings.aggregate !== b.settings.aggregate || a.settings.as !== b.settings.as) return false;
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

/** Represents a detector of the past, whose states are read and never continued. */
export function previousDetector(digest: string, settings: StreamDetectionSettings): LoadedDetector {
  const config: DetectorConfig = {
    name: '',
    series: [],
    group: null,
    by: null,
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

interface InputDetectors<D> {
  readonly detectorOf: (series: string) => D | null;
  /** The same, without the cache. */
  readonly matchDetector: (series: string) => D | null;
  readonly groupSourceOf: (series: string) => GroupSource;
  /** The id that a series with this id of name and labels is scored under. */
  readonly idOf: (source: string) => string;
}

/** Detectors by the series of an input: see `matchDetectors`. */
export function detectorsOfInput<D extends { readonly config: Pick<DetectorConfig, 'series' | 'group' | 'by'> }>(
  detectors: readonly D[],
  input: Pick<RecordMapping, 'dropLabels' | 'idTemplate' | 'replicaLabel'>,
): InputDetectors<D> {
  const identityOf = seriesIdentity(input);
  const matchDetector = detectorMatcher(detectors, identityOf);
  const detectorOf = remembered(matchDetector);
  return {
    detectorOf,
    matchDetector,
    idOf: (source) => identityOf?.(source).id ?? source,
    groupSourceOf(series) {
      const found = detectorOf(series);
      return found === null ? null : groupSourceOf(found.config);
    },
  };
}

/** The same of the detectors of a configuration, which are not loaded. */
export function detectorsOfStream<D extends Pick<DetectorConfig, 'series' | 'group' | 'by'>>(stream: {
  readonly detectors: readonly D[];
  readonly input: Parameters<typeof detectorsOfInput>[1];
}) {
  const configured = stream.detectors.map((config) => ({ config }));
  return detectorsOfInput(configured, stream.input);
}

/** Size of the cache of matches, which take 165 bytes with ids of 120. A full cache is cleared. */
const MATCHES_MAX = 2_000_000;

/**
 * Finds the detector of a series: the first one with a glob or matchers that match; null when there is none. Remembers
 * what it found.
 */
export function matchDetectors<D extends { readonly config: Pick<DetectorConfig, 'series'> }>(
  detectors: readonly D[],
): (series: string) => D | null {
  return remembered(detectorMatcher(detectors, null));
}

/** The series is given by the id in its record, or by what `identityOf` makes of its labels. */
function detectorMatcher<D extends { readonly config: Pick<DetectorConfig, 'series'> }>(
  detectors: readonly D[],
  identityOf: IdentityOf | null,
): (series: string) => D | null {
  const compiled = detectors.map((detector) => ({ detector, pattern: seriesPattern(detector.config.series) }));
  return (series) => {
    const { id, source } = identityOf?.(series) ?? { id: series, source: series };
    const labels = id === source ? null : labelsOfId(source);
    return compiled.find(({ pattern }) => pattern.test(id, labels))?.detector ?? null;
  };
}

function remembered<D>(find: (series: string) => D | null): (series: string) => D | null {
  const matches = new Map<string, D | null>();
  return (series) => {
    const known = matches.get(series);
    if (known !== undefined) return known;
    const match = find(series);
    if (matches.size >= MATCHES_MAX) matches.clear();
    matches.set(series, match);
    return match;
  };
}
