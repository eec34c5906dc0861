import type { InputRecord } from '../../../kafka/batch/records.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import type { WriterReports } from '../../../pipelines/remote-write/remote-writer.ts';
import type { ScoreSamples } from '../../../pipelines/remote-write/score-series.ts';

/** Interval of log lines about samples that are refused. */
const LOGGED_MS = 60_000;
/** Time for which readiness has a warning about them. */
const WARNED_MS = 3_600_000;
/** Series whose labels are those of another one, with a line in the log for each. */
const SHADOWED_MAX = 100;

type BandMetrics = Pick<Metrics, 'remoteWriteSamples' | 'remoteWriteStalled'>;
type BandLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Outcomes of bands, for log, metrics and readiness. */
export class BandReports {
  readonly #metrics: BandMetrics;
  readonly #logger: BandLogger;
  readonly #stalled = new Map<number, string>();
  readonly #shadowed = new Map<string, string>();
  #loggedMs = Number.NEGATIVE_INFINITY;
  #refused = { samples: 0, sinceLogged: 0, reason: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(metrics: BandMetrics, logger: BandLogger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Reason why a partition does not continue; null if it does. */
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

  /** Sentences about what is not written although the receiver is there. */
  warnings(): readonly string[] {
    const { samples, reason, atMs } = this.#refused;
    const isRecent = performance.now() - atMs < WARNED_MS;
    return [
      ...(isRecent ? [`${samples} samples of bands were refused by the receiver: ${reason}`] : []),
      ...[...this.#shadowed].map(([id, owner]) => `${id} has no band: in Prometheus its labels are those of ${owner}`),
    ];
  }

  /** Samples of series whose labels belong to another series. */
  shadowed(samples: ScoreSamples['shadowed']): void {
    for (const { id, owner, samples: count } of samples) {
      this.#metrics.remoteWriteSamples.inc({ outcome: 'shadowed' }, count);
      if (this.#shadowed.has(id) || this.#shadowed.size >= SHADOWED_MAX) continue;
      this.#shadowed.set(id, owner);
      const remedy = 'name the label otherwise, or leave it out by input.drop_labels';
      this.#logger.warn({ series: id, writtenSeries: owner, remedy }, 'two series have the same labels in Prometheus');
    }
  }

  unreadable({ partition, offset }: Pick<InputRecord, 'partition' | 'offset'>, reason: string): void {
    this.#metrics.remoteWriteSamples.inc({ outcome: 'unreadable' });
    this.#logger.error({ partition, offset, reason }, 'a record of the topic of scores is no score');
  }

  ofWriter(partition: number): WriterReports {
    return {
      accepted: (samples) => this.#metrics.remoteWriteSamples.inc({ outcome: 'accepted' }, samples),
      refused: (samples, reason) => {
        this.#metrics.remoteWriteSamples.inc({ outcome: 'refused' }, samples);
        const refused = this.#refused;
        const atMs = performance.now();
        this.#refused = {
          samples: refused.samples + samples,
          sinceLogged: refused.sinceLogged + samples,
          reason,
          atMs,
        };
        if (atMs - this.#loggedMs < LOGGED_MS) return;
        this.#loggedMs = atMs;
        const { sinceLogged } = this.#refused;
        this.#refused.sinceLogged = 0;
        this.#logger.warn({ partition, samples: sinceLogged, reason }, 'the receiver refuses samples of bands');
      },
      stalled: (reason) => this.stalled(partition, reason),
    };
  }
}
