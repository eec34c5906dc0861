import type { Tuned } from '../../model/tuning/tune.ts';
import type { TuningRequest } from '../../model/tuning/tuning-bytes.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** What a fine-tuning was asked for. */
export interface RequestedTuning extends Pick<TuningRequest, 'steps' | 'loss' | 'depth'> {
  readonly model: string;
  /** How many there are to learn from. */
  readonly series: number;
}

/** How a fine-tuning ended. */
export type TuningEnd =
  /** `unchanged`: what was learnt surely did worse on what was held back, or no step was asked for. */
  | ({ readonly kind: 'tuned' | 'unchanged' } & Pick<Tuned, 'step' | 'validation'> & { readonly share: number })
  /** It took longer, or more memory, than it may; nobody wanted it any more; too many waited; a fault of ours. */
  | { readonly kind: 'too-long' | 'too-large' | 'stopped' | 'refused' | 'failed' };

/** One fine-tuning, as whoever counts hears of it. */
export interface ObservedTuning {
  /** How many steps were made: 0 when its turn comes. */
  stepped(step: number): void;
  ended(end: TuningEnd): void;
}

/** Hears of every fine-tuning when it is asked for. */
export type TuningObserver = (requested: RequestedTuning) => ObservedTuning;

/** Nobody counts. */
export const noObserver: TuningObserver = () => ({ stepped: () => {}, ended: () => {} });

export function requestedTuning(model: string, { series, steps, loss, depth }: TuningRequest): RequestedTuning {
  return { model, series: series.length, steps, loss, depth };
}

export function endOf({ step, coefficient: share, validation }: Tuned): TuningEnd {
  return { kind: step === 0 ? 'unchanged' : 'tuned', step, share, validation };
}

/** Counts fine-tunings, and logs each. Time spent waiting for its turn is not part of what one took. */
export function reportTunings(metrics: Metrics, logger: Logger, nowMs: () => number): TuningObserver {
  return (asked) => {
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
        logger.info({ ...asked, outcome: kind, made, ...end, ms }, 'tuning');
      },
    };
  };
}
