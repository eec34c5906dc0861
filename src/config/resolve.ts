import type { ForecastLimits } from '../forecasting/forecaster.ts';
import { meanStepMs } from '../time/frequency.ts';
import type { ConfigResult, DetectorConfig, WrittenDetector } from './config.ts';
import type { Config, LoadedConfig } from './load.ts';
import { mustBe, nearestOf } from './schema/problems.ts';

/** Default of `idle_limit`: so many gaps that are just bridged, and at least a week. */
const IDLE_GAPS = 2;
const IDLE_MS_MIN = 7 * 86_400_000;

/**
 * Completes the configuration with the limits of the models: a missing context becomes that of the model.
 * @param modelLimits limits of every model, by the names that a detector may use
 */
export function resolveConfig(
  config: LoadedConfig,
  modelLimits: ReadonlyMap<string, Pick<ForecastLimits, 'context' | 'horizonMax'>>,
): ConfigResult<Config> {
  const resolved = resolveDetectors(config.stream.detectors, modelLimits);
  if (resolved.kind === 'problems') return resolved;
  return { kind: 'config', config: { ...config, stream: { ...config.stream, detectors: resolved.detectors } } };
}

/** The same for detectors alone. */
export function resolveDetectors(
  written: readonly WrittenDetector[],
  modelLimits: ReadonlyMap<string, Pick<ForecastLimits, 'context' | 'horizonMax'>>,
):
  | { readonly kind: 'detectors'; readonly detectors: DetectorConfig[] }
  | Extract<ConfigResult<never>, { kind: 'problems' }> {
  const problems: string[] = [];
  const detectors: DetectorConfig[] = [];
  for (const [index, detector] of written.entries()) {
    const key = `detectors[${index}]`;
    const limits = modelLimits.get(detector.model);
    if (limits === undefined) {
      const names = [...modelLimits.keys()];
      const nearest = nearestOf(detector.model, names);
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      problems.push(`${mustBe(`${key}.model`, `a model there is (${names.join(', ')})`, detector.model)}${hint}`);
      continue;
    }
    const { h, context } = detector.settings;
    if (h > limits.horizonMax) {
      problems.push(mustBe(`${key}.h`, `at most the horizon of ${detector.model} (${limits.horizonMax})`, h));
    }
    if (context !== null && context > limits.context) {
      problems.push(mustBe(`${key}.context`, `at most the context of ${detector.model} (${limits.context})`, context));
    }
    detectors.push(completedBy(limits, detector));
  }
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'detectors', detectors };
}

/** A detector with what it takes from its model. Only a gap longer than the context makes a series start over. */
export function completedBy(limits: Pick<ForecastLimits, 'context'>, detector: WrittenDetector): DetectorConfig {
  const { settings } = detector;
  const context = settings.context ?? limits.context;
  const gapLimit = settings.gapLimit ?? context;
  const idleMs = settings.idleMs ?? Math.max(IDLE_MS_MIN, IDLE_GAPS * gapLimit * meanStepMs(settings.freq));
  return { ...detector, settings: { ...settings, context, gapLimit, idleMs: Number.isFinite(idleMs) ? idleMs : null } };
}
