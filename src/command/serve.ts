import { loadProcessConfig } from '../config/load.ts';
import { httpOptions, processOptions, workerLimits } from '../config/options.ts';
import { openCatalog } from '../model/catalog.ts';
import { createLogger } from '../telemetry/logger.ts';
import { collectForecasts, createMetrics } from '../telemetry/metrics.ts';
import { startOpsServer } from '../telemetry/ops-server.ts';
import { aborted, DONE, type RunnableCommand, sayProblems } from './command.ts';
import { runSidecar } from './run-sidecar.ts';

/** Answers requests over HTTP until it is told to stop. */
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
    if (loaded.kind === 'problems') return sayProblems(loaded.problems, io);
    const { opsHost: host, opsPort: port, modelsDir, logLevel } = loaded.config;
    const catalog = await openCatalog({ modelsDir });
    const metrics = createMetrics({ collectProcess: true });
    const logger = createLogger(logLevel);
    const reasonsNotReady = () => (io.stop.aborted ? ['the service is ending'] : []);
    const ops = await startOpsServer({ host, port, metrics, reasonsNotReady });
    try {
      const sidecar = await runSidecar(loaded.config, catalog, metrics, logger);
      collectForecasts(metrics, () => sidecar.forecasts());
      if (sidecar.madeKey !== null) {
        io.err(`No TIDEWATCH_API_KEY is set. The key of this run, shown once: ${sidecar.madeKey}`);
      }
      logger.info({ url: sidecar.url, ops: ops.url }, 'serving');
      await aborted(io.stop);
      logger.info('ending: requests that are there are answered');
      await sidecar.stop();
    } finally {
      await ops.close();
    }
    return DONE;
  },
};
