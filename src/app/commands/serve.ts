import { setTimeout } from 'node:timers/promises';
import { changeOptions } from '../../config/change-options.ts';
import { identityOptions } from '../../config/identity-options.ts';
import { loadProcessConfig } from '../../config/load.ts';
import {
  detectorsOptions,
  historyOptions,
  httpOptions,
  kafkaOptions,
  processOptions,
  registryOptions,
  storeOptions,
  streamOptions,
  workerLimits,
} from '../../config/options.ts';
import { scoresOptions } from '../../config/prometheus-options.ts';
import { openCatalog } from '../../models/catalog.ts';
import { createLogger } from '../../ops/logger.ts';
import { collectForecasts, createMetrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { aborted, DONE } from '../../tools/terminal/command-io.ts';
import { noScoresText } from '../processes/history/run-history.ts';
import { type RunningOperations, runOperations } from '../processes/operations/run-operations.ts';
import { type RunningScores, serveScores } from '../processes/prometheus/serve-scores.ts';
import { type RunningSidecar, runSidecar } from '../processes/run-sidecar.ts';
import { printProblems, type RunnableCommand } from './command.ts';

/** Answers requests over HTTP until it is stopped. */
export const serveCommand: RunnableCommand = {
  options: [
    ...Object.values(httpOptions),
    ...Object.values(identityOptions),
    ...Object.values(storeOptions),
    ...Object.values(kafkaOptions),
    ...Object.values(registryOptions),
    ...Object.values(streamOptions),
    ...Object.values(historyOptions),
    ...Object.values(scoresOptions),
    ...Object.values(detectorsOptions),
    ...Object.values(changeOptions),
    workerLimits.inferenceThreads,
    workerLimits.shutdownMsMax,
    ...Object.values(processOptions),
  ],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, []);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    if (loaded.config.scores.port !== null && loaded.config.kafka === null) {
      return printProblems(['SCORES_PORT is set, but KAFKA_BROKERS is not: there are no scores without it'], io);
    }
    const { opsHost: host, opsPort: port, modelsDir, logLevel } = loaded.config;
    const catalog = await openCatalog({ modelsDir });
    const metrics = createMetrics({ collectProcess: true });
    const logger = createLogger(logLevel);
    let sidecar: RunningSidecar | null = null;
    const reasonsNotReady = () => {
      if (io.stop.aborted) return ['the service is ending'];
      return sidecar === null ? ['the service is starting'] : sidecar.reasonsNotReady();
    };
    let stream: RunningOperations | null = null;
    // Requests with series are answered as ever: the service stays in rotation.
    const warnings = () => {
      const problem = stream?.operations.problem() ?? null;
      if (problem === null) return [];
      if (problem.due !== null) return [noScoresText(problem)];
      return [`nothing new is read from Kafka since ${new Date(problem.sinceMs).toISOString()}: ${problem.reason}`];
    };
    const ops = await startOpsServer({ host, port, metrics, reasonsNotReady, warnings });
    let scores: RunningScores | null = null;
    try {
      const { config } = loaded;
      if (config.kafka !== null) stream = runOperations({ config, logger, metrics });
      const operations = stream?.operations ?? null;
      scores = operations === null ? null : await serveScores(config, { reader: operations.reader, logger });
      const running = await runSidecar({ config, catalog, metrics, logger, operations });
      if (config.kafka !== null) stream?.begin(config.kafka);
      sidecar = running;
      collectForecasts(metrics, () => running.forecasts());
      if (running.madeKey !== null) {
        io.err(`There was no key. The first one was made and stored; it is shown once: ${running.madeKey}`);
      }
      logger.info({ url: running.url, ops: ops.url, ...(scores && { scores: scores.url }) }, 'serving');
      await aborted(io.stop);
      // An orchestrator sends requests until it has seen that the service is not ready; a person wants an end.
      if (io.stop.reason === 'SIGTERM') await setTimeout(loaded.config.http.drainMs);
      logger.info('ending: requests that are there are answered');
      await Promise.all([running.stop(), stream?.stop()]);
    } finally {
      await scores?.close();
      await ops.close();
    }
    return DONE;
  },
};
