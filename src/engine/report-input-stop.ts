import type { DetectorConfig } from '../config/config.ts';
import type { Logger } from '../ops/logger.ts';
import type { Metrics } from '../ops/metrics.ts';
import { LiveInput, stoppedText } from '../records/diagnostics/live-input.ts';

const CHECK_MS = 10_000;

/** Reports that the whole input of a worker has stopped, and that it is back. Event times decide nothing by it. */
export class InputStopReport {
  readonly #metrics: Pick<Metrics, 'inputStoppedSeconds'>;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #input = new LiveInput();
  #timer: NodeJS.Timeout | undefined;
  #partitions = '';
  #warning: string | null = null;

  constructor(metrics: Pick<Metrics, 'inputStoppedSeconds'>, logger: Logger, nowMs: () => number) {
    this.#metrics = metrics;
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** @param isReady false while the worker cannot read its input, or not commit it: that is no stop */
  start(isReady: () => boolean): void {
    this.#timer = setInterval(() => this.check(isReady()), CHECK_MS).unref();
  }

  detectorsSet(detectors: readonly Pick<DetectorConfig, 'settings'>[]): void {
    this.#input.expect(detectors.map(({ settings }) => settings.freq));
  }

  /** Input of other partitions is not known yet. */
  assigned(partitions: readonly number[]): void {
    if (String(partitions) !== this.#partitions) this.#input.forget();
    this.#partitions = String(partitions);
  }

  committed(newestEventMs: number | null): void {
    if (newestEventMs !== null) this.#input.arrived(newestEventMs, this.#nowMs());
  }

  check(isReady = true): void {
    if (!isReady) this.#input.readable(this.#nowMs());
    const stopped = this.#input.stopped(this.#nowMs());
    this.#metrics.inputStoppedSeconds.set((stopped?.forMs ?? 0) / 1_000);
    const warning = stopped === null ? null : stoppedText(stopped);
    if (warning !== null && this.#warning === null) this.#logger.warn(warning);
    if (warning === null && this.#warning !== null && isReady) this.#logger.info('observations arrive again');
    this.#warning = warning;
  }

  warnings(): string[] {
    return this.#warning === null ? [] : [this.#warning];
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
