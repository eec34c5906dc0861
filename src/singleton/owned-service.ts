import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../ops/service-error.ts';
import type { OwnedLog } from './owned-log.ts';

/** From a failed run to the next. */
const RESTART_MS = 1_000;
/** Why a run ends: in order, or at once because another process has begun. */
const STOPPED = 'stopped';
const TAKEN_OVER = 'taken over';

/** One ownership of the state, from its restore to its loss. */
export interface OwnedRun {
  /** Resolves with the failure that ended it, or with null after `stop` or `abandon`. */
  readonly finished: Promise<Error | null>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it soon: another process begins. */
  abandon(): Promise<void>;
}

interface OwnedServiceOptions<R extends OwnedRun> {
  readonly log: OwnedLog;
  /** Takes the state over and continues from it. Rejects when `signal` aborts before. */
  start(signal: AbortSignal, onReading: (error: Error | null) => void): Promise<R>;
  readonly reports: OwnerReports;
}

export interface OwnerReports {
  /** Whether this process is the owner. */
  owner(owns: boolean): void;
  connection(error: Error | null): void;
  /** A run failed; the next one continues. */
  interrupted(error: Error): void;
}

export interface OwnedService<R extends OwnedRun> {
  /** null after `stop`; an error when it cannot continue. */
  readonly finished: Promise<Error | null>;
  /** One sentence each; empty while events are read, or another process reads them. */
  notReady(): string[];
  /** null while another process is the owner. */
  run(): R | null;
  stop(): Promise<void>;
}

/** Runs whenever this process is the owner. Throws a ServiceError when it cannot take part. */
export async function startOwnedService<R extends OwnedRun>(options: OwnedServiceOptions<R>): Promise<OwnedService<R>> {
  const { log, reports } = options;
  const { promise: finished, resolve: finish } = Promise.withResolvers<Error | null>();
  const lost = new Set<'membership' | 'reading'>();
  let run: R | null = null;
  let owning = new AbortController();
  let turn = Promise.resolve();

  const connection = (part: 'membership' | 'reading', error: Error | null) => {
    const before = lost.size;
    if (error === null) lost.delete(part);
    else lost.add(part);
    if (before === 0 && error !== null) reports.connection(error);
    if (before > 0 && lost.size === 0) reports.connection(null);
  };
  const own = async (signal: AbortSignal): Promise<void> => {
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
  /** The run before has ended when the next one begins. */
  const change = (owns: boolean, reason: string): Promise<void> => {
    owning.abort(reason);
    owning = new AbortController();
    const { signal } = owning;
    if (owns) turn = turn.then(() => own(signal)).catch((error: Error) => finish(error));
    return turn;
  };
  const membership = await log.join({
    onOwner: (owns) => {
      reports.owner(owns);
      void change(owns, TAKEN_OVER);
    },
    onConnection: (error) => connection('membership', error),
    onFatal: finish,
  });
  return {
    finished,
    notReady: () => (lost.size > 0 ? ['Kafka is away'] : []),
    run: () => run,
    stop: async () => {
      await change(false, STOPPED);
      await membership.stop();
      finish(null);
    },
  };
}
