import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../ops/service-error.ts';
import type { SingletonLog } from './singleton-log.ts';

/** Delay between a failed run and the next. */
const RESTART_MS = 1_000;
/** Reasons for the end of a run: a shutdown, or another process that became active. */
const STOPPED = 'stopped';
const TAKEN_OVER = 'taken over';

/** One active period, from the restore of the state to its loss. */
export interface SingletonRun {
  /** Resolves with the failure that ended the run, or with null after `stop` or `abandon`. */
  readonly finished: Promise<Error | null>;
  /** Ends the run after what is in flight. */
  stop(): Promise<void>;
  /** Ends the run at once, because another process is active. */
  abandon(): Promise<void>;
}

interface SingletonServiceOptions<R extends SingletonRun> {
  readonly log: SingletonLog;
  /** Restores the state and continues from it. Rejects if `signal` aborts before. */
  start(signal: AbortSignal, onReading: (error: Error | null) => void): Promise<R>;
  readonly reports: SingletonReports;
}

export interface SingletonReports {
  active(isActive: boolean): void;
  connection(error: Error | null): void;
  /** A run failed; the next one continues. */
  interrupted(error: Error): void;
}

export interface SingletonService<R extends SingletonRun> {
  /** Resolves with null after `stop`, and with an error if the service cannot continue. */
  readonly finished: Promise<Error | null>;
  /** Reasons, a sentence each; none while events are read, or another process is active. */
  notReady(): string[];
  /** null while another process is active. */
  run(): R | null;
  stop(): Promise<void>;
}

/** Runs whenever this process is active. Throws a ServiceError if it cannot compete. */
export async function startSingletonService<R extends SingletonRun>(
  options: SingletonServiceOptions<R>,
): Promise<SingletonService<R>> {
  const { log, reports } = options;
  const { promise: finished, resolve: finish } = Promise.withResolvers<Error | null>();
  const lost = new Set<'membership' | 'reading'>();
  let run: R | null = null;
  let activity = new AbortController();
  let previous = Promise.resolve();

  const connection = (part: 'membership' | 'reading', error: Error | null) => {
    const before = lost.size;
    if (error === null) lost.delete(part);
    else lost.add(part);
    if (before === 0 && error !== null) reports.connection(error);
    if (before > 0 && lost.size === 0) reports.connection(null);
  };
  const keepRunning = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const failure = await options
        .start(signal, (error) => connection('reading', error))
        .then(
          async (started) => {
            run = started;
            const end = () => void (signal.reason === STOPPED ? started.stop() : started.abandon());
            signal.addEventListener('abort', end, { once: true });
            if (signal.aborted) end();
            return started.finished;
          },
          (error: Error) => error,
        );
      run = null;
      lost.delete('reading');
      if (failure === null || signal.aborted) return;
      const isFinal = !(failure instanceof ServiceError) || failure.code === 'kept-by-newer';
      if (isFinal) return finish(failure);
      reports.interrupted(failure);
      await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  /** Starts the next run after the previous one has ended. */
  const change = (isActive: boolean, reason: string): Promise<void> => {
    activity.abort(reason);
    activity = new AbortController();
    const { signal } = activity;
    if (isActive) previous = previous.then(() => keepRunning(signal)).catch((error: Error) => finish(error));
    return previous;
  };
  const membership = await log.join({
    onActive: (isActive) => {
      reports.active(isActive);
      void change(isActive, TAKEN_OVER);
    },
    onConnection: (error) => connection('membership', error),
    onFatal: finish,
  });
  return {
    finished,
    notReady: () => (lost.size > 0 ? ['Kafka is unavailable'] : []),
    run: () => run,
    stop: async () => {
      await change(false, STOPPED);
      await membership.stop();
      finish(null);
    },
  };
}
