import type { WriterReports } from '../../prometheus/remote-writer.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** How often samples that are refused are said. */
const SAID_MS = 60_000;

type BandMetrics = Pick<Metrics, 'remoteWriteSamples' | 'remoteWriteStalled'>;
type BandLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** What became of bands, for log, metrics and readiness. */
export class BandReports {
  readonly #metrics: BandMetrics;
  readonly #logger: BandLogger;
  readonly #stalled = new Map<number, string>();
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(metrics: BandMetrics, logger: BandLogger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Why a partition does not go on; null where it does. */
  stalled(partition: number, reason: string | null): void {
    const before = this.#stalled.get(partition) ?? null;
    if (reason === null) this.#stalled.delete(partition);
    else this.#stalled.set(partition, reason);
    if (reason !== null && reason !== before) this.#logger.warn({ partition, reason }, 'no bands are written now');
    if (reason === null && before !== null) this.#logger.info({ partition }, 'bands are written again');
    this.#metrics.remoteWriteStalled.set(this.#stalled.size > 0 ? 1 : 0);
  }

  reasonsNotReady(): readonly string[] {
    return [...this.#stalled].map(([partition, reason]) => `no bands of partition ${partition} are written: ${reason}`);
  }

  unreadable(place: { readonly partition: number; readonly offset: number }, reason: string): void {
    this.#metrics.remoteWriteSamples.inc({ outcome: 'unreadable' });
    this.#logger.error({ ...place, reason }, 'a record of the topic of scores is no score');
  }

  ofWriter(partition: number): WriterReports {
    return {
      accepted: (samples) => this.#metrics.remoteWriteSamples.inc({ outcome: 'accepted' }, samples),
      refused: (samples, reason) => {
        this.#metrics.remoteWriteSamples.inc({ outcome: 'refused' }, samples);
        if (performance.now() - this.#saidMs < SAID_MS) return;
        this.#saidMs = performance.now();
        this.#logger.warn({ partition, samples, reason }, 'samples of bands are refused and passed over');
      },
      stalled: (reason) => this.stalled(partition, reason),
    };
  }
}
