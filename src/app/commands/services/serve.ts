import { identityOptions } from '../../../config/options/identity-options.ts';
import {
  historyOptions,
  httpOptions,
  kafkaOptions,
  processOptions,
  registryOptions,
  storeOptions,
  streamOptions,
  workerLimits,
} from '../../../config/options/options.ts';
import { scoresOptions } from '../../../config/options/prometheus-options.ts';
import { changeOptions, detectorsOptions } from '../../../config/options/topic-options.ts';
import type { HistoryProblem } from '../../../history/port/history-port.ts';
import { openCatalog } from '../../../models/catalog.ts';
import { collectForecasts } from '../../../ops/metrics.ts';
import { noScoresText } from '../../processes/history/run-history.ts';
import { runOperations } from '../../processes/operations/run-operations.ts';
import { serveScores } from '../../processes/prometheus/serve-scores.ts';
import { runSidecar } from '../../processes/run-sidecar.ts';
import { command, printProblems } from '../command.ts';
import { printMadeKey, runService } from './run-service.ts';

/** Answers requests over HTTP until it is stopped. */
export const serveCommand = command({
  own: {},
  settings: {
    ...httpOptions,
    ...identityOptions,
    ...storeOptions,
    ...kafkaOptions,
    ...registryOptions,
    ...streamOptions,
    ...historyOptions,
    ...scoresOptions,
    ...detectorsOptions,
    ...changeOptions,
    inferenceThreads: workerLimits.inferenceThreads,
    shutdownMsMax: workerLimits.shutdownMsMax,
    ...processOptions,
  },
  async run({ config }, io) {
    const { kafka, modelsDir, http } = config;
    if (config.scores.port !== null && kafka === null) {
      return printProblems(['SCORES_PORT is set, but KAFKA_BROKERS is not: there are no scores without it'], io);
    }
    const catalog = await openCatalog({ modelsDir });
    const service = { config, io, drainMs: http.drainMs, needsBroker: false };
    return runService(service, async ({ logger, metrics, ops }) => {
      const stream = kafka === null ? null : runOperations({ config, logger, metrics });
      const operations = stream?.operations ?? null;
      const scores = operations && (await serveScores(config, { reader: operations.reader, logger }));
      const stopStream = () => Promise.all([stream?.stop(), scores?.close()]);
      const sidecar = await runSidecar({ config, catalog, metrics, logger, operations }).catch(async (error) => {
        await stopStream();
        throw error;
      });
      if (kafka !== null) stream?.begin(kafka);
      collectForecasts(metrics, () => sidecar.forecasts());
      printMadeKey(sidecar.madeKey, io);
      const { url } = sidecar;
      if (io.status !== undefined) io.err(`The console is at ${url}/console`);
      logger.info({ url, console: `${url}/console`, ops, ...(scores && { scores: scores.url }) }, 'serving');
      return {
        notReady: () => sidecar.reasonsNotReady(),
        // Requests with series are answered, so the service stays ready.
        warnings: () => warningsOf(operations?.problem() ?? null),
        stop: async () => void (await Promise.all([sidecar.stop(), stopStream()])),
      };
    });
  },
});

function warningsOf(problem: HistoryProblem | null): readonly string[] {
  if (problem === null) return [];
  if (problem.due !== null) return [noScoresText(problem)];
  return [`nothing new is read from Kafka since ${new Date(problem.sinceMs).toISOString()}: ${problem.reason}`];
}
