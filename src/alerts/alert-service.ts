import type { AlertGauges } from '../ops/metrics.ts';
import { startSingletonService } from '../singleton/singleton-service.ts';
import { AlertRun, type AlertRunOptions } from './alert-run.ts';

export interface AlertService {
  /** null after `stop`; an error when it cannot continue. */
  readonly finished: Promise<Error | null>;
  /** One sentence each; empty while events are read, or another process reads them. */
  notReady(): string[];
  figures(): AlertGauges;
  stop(): Promise<void>;
}

const NOTHING: AlertGauges = { open: 0, deadLetters: 0, waiting: new Map() };

/** Sends alerts whenever this process is the one that does. Throws a ServiceError when it cannot take part. */
export async function startAlertService(options: AlertRunOptions): Promise<AlertService> {
  let { redeliver } = options;
  const { finished, notReady, run, stop } = await startSingletonService<AlertRun>({
    log: options.log,
    reports: options.reports,
    start: async (signal, connection) => {
      const started = await AlertRun.start(
        { ...options, redeliver, reports: { ...options.reports, connection } },
        signal,
      );
      redeliver = false;
      return started;
    },
  });
  return {
    finished,
    notReady,
    figures: () => {
      const current = run();
      if (current === null) return NOTHING;
      return { open: current.open, deadLetters: current.deadLetters, waiting: current.waiting() };
    },
    stop,
  };
}
