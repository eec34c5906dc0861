import type { DetectorConfig } from '../config/config.ts';
import type { Logger } from '../ops/logger.ts';
import type { Metrics } from '../ops/metrics.ts';
import {
  DIAGNOSTIC_KINDS,
  type Diagnostic,
  diagnosticKey,
  diagnosticText,
  mergeDiagnostics,
} from '../records/diagnostics/diagnostic.ts';
import { shadowedGlobs } from '../records/diagnostics/shadowed-globs.ts';

/** The diagnostics of all partitions of a worker: each is logged when it appears, and when it is over. */
export class DiagnosticReport {
  readonly #metrics: Pick<Metrics, 'inputDiagnostics'>;
  readonly #logger: Logger;
  readonly #byPartition = new Map<number, readonly Diagnostic[]>();
  #ofSettings: readonly Diagnostic[] = [];
  #frequencies: ReadonlyMap<string, string> = new Map();
  #present = new Map<string, Diagnostic>();

  constructor(metrics: Pick<Metrics, 'inputDiagnostics'>, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** One sentence each. */
  warnings(): string[] {
    return Array.from(this.#present.values(), (diagnostic) => diagnosticText(diagnostic));
  }

  /** The detectors are these from now on: what was found under others is over. */
  detectorsSet(detectors: readonly Pick<DetectorConfig, 'name' | 'series' | 'settings'>[]): void {
    this.#byPartition.clear();
    this.#frequencies = new Map(detectors.map(({ name, settings }) => [name, settings.freq.alias]));
    this.#ofSettings = shadowedGlobs(detectors);
    this.#update();
  }

  judged(partition: number, diagnostics: readonly Diagnostic[]): void {
    if (this.#byPartition.get(partition) === diagnostics) return;
    this.#byPartition.set(partition, diagnostics);
    this.#update();
  }

  /** Another worker has the partition now. */
  forget(partition: number): void {
    if (this.#byPartition.delete(partition)) this.#update(false);
  }

  #update(logsEnd = true): void {
    const found = mergeDiagnostics([this.#ofSettings, ...this.#byPartition.values()]).filter((one) =>
      this.#isCurrent(one),
    );
    const before = this.#present;
    this.#present = new Map(found.map((diagnostic) => [diagnosticKey(diagnostic), diagnostic]));
    for (const [key, diagnostic] of this.#present) {
      if (!before.has(key)) this.#logger.warn({ finding: diagnostic }, diagnosticText(diagnostic));
    }
    for (const [key, diagnostic] of before) {
      if (logsEnd && !this.#present.has(key)) this.#logger.info({ finding: diagnostic }, 'finding resolved');
    }
    for (const kind of DIAGNOSTIC_KINDS) {
      this.#metrics.inputDiagnostics.set({ kind }, found.filter((one) => one.kind === kind).length);
    }
  }

  /** The last commit under other detectors may end after they were changed. */
  #isCurrent(diagnostic: Diagnostic): boolean {
    return !('freq' in diagnostic) || this.#frequencies.get(diagnostic.detector) === diagnostic.freq;
  }
}
