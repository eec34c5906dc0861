import type { LoadedConfig } from '../../config/config.ts';
import { matchDetectors } from '../../engine/unit/loaded-detector.ts';
import type { Finding } from '../../records/diagnostics/finding.ts';
import { InputCounts, judgeInput } from '../../records/diagnostics/input-watch.ts';
import { shadowedGlobs } from '../../records/diagnostics/shadowed-globs.ts';

/** Series whose steps are measured. */
const SERIES_MEASURED_MAX = 100_000;

type Detectors = LoadedConfig['stream']['detectors'];

/** Compares the steps of sent observations with those that the detectors expect. */
export class SentSteps {
  readonly #detectors: Detectors;
  readonly #detectorOf;
  readonly #counts = new InputCounts();
  readonly #newestMs = new Map<string, number>();

  constructor(detectors: Detectors) {
    this.#detectors = detectors;
    this.#detectorOf = matchDetectors(detectors.map((config) => ({ config })));
  }

  add(series: string, timestampMs: number): void {
    const found = this.#detectorOf(series);
    const newestMs = this.#newestMs.get(series);
    if (found === null || (newestMs === undefined && this.#newestMs.size >= SERIES_MEASURED_MAX)) return;
    this.#newestMs.set(series, timestampMs);
    const { name, settings } = found.config;
    this.#counts.of(name, settings.freq).take(timestampMs - (newestMs ?? Number.NaN), 0);
  }

  findings(): Finding[] {
    return [...shadowedGlobs(this.#detectors), ...judgeInput(this.#counts)];
  }
}
