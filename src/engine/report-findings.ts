import type { DetectorConfig } from '../config/config.ts';
import type { Logger } from '../ops/logger.ts';
import type { Metrics } from '../ops/metrics.ts';
import { FINDING_KINDS, type Finding, findingKey, findingText, mergeFindings } from '../records/diagnostics/finding.ts';
import { shadowedGlobs } from '../records/diagnostics/shadowed-globs.ts';

/** The findings of all partitions of a worker: each is logged when it appears, and when it is over. */
export class FindingReport {
  readonly #metrics: Pick<Metrics, 'inputFindings'>;
  readonly #logger: Logger;
  readonly #byPartition = new Map<number, readonly Finding[]>();
  #ofSettings: readonly Finding[] = [];
  #frequencies: ReadonlyMap<string, string> = new Map();
  #present = new Map<string, Finding>();

  constructor(metrics: Pick<Metrics, 'inputFindings'>, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** One sentence each. */
  warnings(): string[] {
    return Array.from(this.#present.values(), (finding) => findingText(finding));
  }

  /** The detectors are these from now on: what was found under others is over. */
  detectorsSet(detectors: readonly Pick<DetectorConfig, 'name' | 'series' | 'settings'>[]): void {
    this.#byPartition.clear();
    this.#frequencies = new Map(detectors.map(({ name, settings }) => [name, settings.freq.alias]));
    this.#ofSettings = shadowedGlobs(detectors);
    this.#update();
  }

  judged(partition: number, findings: readonly Finding[]): void {
    if (this.#byPartition.get(partition) === findings) return;
    this.#byPartition.set(partition, findings);
    this.#update();
  }

  /** Another worker has the partition now. */
  forget(partition: number): void {
    if (this.#byPartition.delete(partition)) this.#update(false);
  }

  #update(logsEnd = true): void {
    const found = mergeFindings([this.#ofSettings, ...this.#byPartition.values()]).filter((one) =>
      this.#isCurrent(one),
    );
    const before = this.#present;
    this.#present = new Map(found.map((finding) => [findingKey(finding), finding]));
    for (const [key, finding] of this.#present) {
      if (!before.has(key)) this.#logger.warn({ finding }, findingText(finding));
    }
    for (const [key, finding] of before) {
      if (logsEnd && !this.#present.has(key)) this.#logger.info({ finding }, 'finding resolved');
    }
    for (const kind of FINDING_KINDS) {
      this.#metrics.inputFindings.set({ kind }, found.filter((one) => one.kind === kind).length);
    }
  }

  /** The last commit under other detectors may end after they were changed. */
  #isCurrent(finding: Finding): boolean {
    return !('freq' in finding) || this.#frequencies.get(finding.detector) === finding.freq;
  }
}
