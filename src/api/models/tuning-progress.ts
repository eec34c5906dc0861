import type { Tuned } from '../../models/tuning/tune.ts';
import type { TuningRequest } from '../../models/tuning/tuning-bytes.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Metrics } from '../../ops/metrics.ts';

export interface RequestedTuning extends Pick<TuningRequest, 'steps' | 'loss' | 'depth'> {
  readonly model: string;
  readonly series: number;
}

export type TuningEnd =
  /** `unchanged`: the validation loss got significantly worse, or no step was requested. */
  | ({ readonly kind: 'tuned' | 'unchanged' } & Pick<Tuned, 'step' | 'validation'> & { readonly share: number })
  /**
   * It exceeded its time or memory, could not be answered in time, was stopped by the client, was refused by a full
   * queue, or failed internally.
   */
  | { readonly kind: 'too-long' | 'too-late' | 'too-large' | 'stopped' | 'refused' | 'failed' };

export interface ObservedTuning {
  /** Steps completed; 0 when the fine-tuning starts. */
  stepped(step: number): void;
  ended(end: TuningEnd): void;
}

/** Called for every requested fine-tuning. */
export type TuningObserver = (requested: RequestedTuning) => ObservedTuning;

export const noObserver: TuningObserver = () => ({ stepped: () => {}, ended: () => {} });

export function requestedTuning(model: string, { series, steps, loss, depth }: TuningRequest): RequestedTuning {
  return { model, series: series.length, steps, loss, depth };
}

export function endOf({ step, coefficient: share, validation }: Tuned): TuningEnd {
  return { kind: step === 0 ? 'unchanged' : 'tuned', step, share, validation };
}

/** Counts and logs fine-tunings. The time in the queue is not part of their duration. */
export function reportTunings(metrics: Metrics, logger: Logger, nowMs: () => number): TuningObserver {
  return (requested) => {
    let begunMs: number | null = null;
    let made = 0;
    metrics.tuningsWaiting.inc();
    return {
      stepped(step) {
        if (begunMs === null) {
          begunMs = nowMs();
          metrics.tuningsWaiting.dec();
          metrics.tuningsRunning.inc();
        }
        metrics.tuningSteps.inc(step - made);
        made = step;
      },
      ended({ kind, ...end }) {
        (begunMs === null ? metrics.tuningsWaiting : metrics.tuningsRunning).dec();
        const ms = begunMs === null ? 0 : nowMs() - begunMs;
        if (begunMs !== null) metrics.tuningSeconds.observe(ms / 1_000);
        metrics.tunings.inc({ outcome: kind });
        logger.info({ ...requested, outcome: kind, made, ...end, ms }, 'tuning');
      },
    };
  };
}
