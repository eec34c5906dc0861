import { setTimeout } from 'node:timers/promises';
import { loadProcessConfig } from '../config/load.ts';
import { httpOptions, processOptions, workerLimits } from '../config/options.ts';
import { openCatalog } from '../model/catalog.ts';
import { createLogger } from '../telemetry/logger.ts';
import { collectForecasts, createMetrics } from '../telemetry/metrics.ts';
import { startOpsServer } from '../telemetry/ops-server.ts';
import { aborted, DONE, printProblems, type RunnableCommand } from './command.ts';
import { type RunningSidecar, runSidecar } from './run-sidecar.ts';

/** Answers requests over HTTP until it is stopped. */
export const serveCommand: RunnableCommand = {
  name: 'serve',
  summary: 'Answers requests of public clients over HTTP: detection and forecasts of series that they send',
  options: [
    ...Object.values(httpOptions),
    workerLimits.inferenceThreads,
    workerLimits.shutdownMsMax,
    ...Object.values(processOptions),
  ],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, []);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { opsHost: host, opsPort: port, modelsDir, logLevel } = loaded.config;
    const catalog = await openCatalog({ modelsDir });
    const metrics = createMetrics({ collectProcess: true });
    const logger = createLogger(logLevel);
    let sidecar: RunningSidecar | null = null;
    const reasonsNotReady = () => {
      if (io.stop.aborted) return ['the service is ending'];
      return sidecar === null ? ['the service is starting'] : sidecar.reasonsNotReady();
    };
    const ops = await startOpsServer({ host, port, metrics, reasonsNotReady });
    try {
      const running = await runSidecar({ config: loaded.config, catalog, metrics, logger });
      sidecar = running;
      collectForecasts(metrics, () => running.forecasts());
      if (running.madeKey !== null) {
        io.err(`There was no key. The first one was made and stored; it is shown once: ${running.madeKey}`);
      }
      logger.info({ url: running.url, ops: ops.url }, 'serving');
      await aborted(io.stop);
      // An orchestrator sends requests until it has seen that the service is not ready; a person wants an end.
      if (io.stop.reason === 'SIGTERM') await setTimeout(loaded.config.http.drainMs);
      logger.info('ending: requests that are there are answered');
      await running.stop();
    } finally {
      await ops.close();
    }
    return DONE;
  },
};
