import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../service-error.ts';
import { AlertRun, type AlertRunOptions } from './alert-run.ts';

/** From a failed run to the next. */
const RESTART_MS = 1_000;
/** Why a run ends: in order, or at once because another process has begun. */
const STOPPED = 'stopped';
const TAKEN_OVER = 'taken over';

export interface AlertService {
  /** null after `stop`; an error when it cannot continue. */
  readonly finished: Promise<Error | null>;
  /** One sentence each; empty while events are read, or another process reads them. */
  notReady(): string[];
  /** What the gauges show. */
  figures(): AlertFigures;
  stop(): Promise<void>;
}

export interface AlertFigures {
  readonly open: number;
  readonly deadLetters: number;
  readonly waiting: ReadonlyMap<string, number>;
}

const NOTHING: AlertFigures = { open: 0, deadLetters: 0, waiting: new Map() };

/** Sends alerts whenever this process is the one that does. Throws a ServiceError when it cannot take part. */
export async function startAlertService(options: AlertRunOptions): Promise<AlertService> {
  const { log, reports } = options;
  const { promise: finished, resolve: finish } = Promise.withResolvers<Error | null>();
  const lost = new Set<'membership' | 'reading'>();
  let run: AlertRun | null = null;
  let redeliver = options.redeliver;
  let owning = new AbortController();
  let turn = Promise.resolve();

  const connection = (part: 'membership' | 'reading', error: Error | null) => {
    const before = lost.size;
    if (error === null) lost.delete(part);
    else lost.add(part);
    if (before === 0 && error !== null) reports.connection(error);
    if (before > 0 && lost.size === 0) reports.connection(null);
  };
  const runReports = { ...reports, connection: (error: Error | null) => connection('reading', error) };

  const own = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const failure = await AlertRun.start({ ...options, reports: runReports, redeliver }, signal).then(
        async (started) => {
          redeliver = false;
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
      if (!(failure instanceof ServiceError)) return finish(failure);
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
    figures: () => (run === null ? NOTHING : { open: run.open, deadLetters: run.deadLetters, waiting: run.waiting() }),
    stop: async () => {
      await change(false, STOPPED);
      await membership.stop();
      finish(null);
    },
  };
}
