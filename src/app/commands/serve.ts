import { identityOptions } from '../../config/identity-options.ts';
import { loadProcessConfig } from '../../config/load.ts';
import {
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
import { changeOptions, detectorsOptions } from '../../config/topic-options.ts';
import type { HistoryProblem } from '../../history/port/history-port.ts';
import { openCatalog } from '../../models/catalog.ts';
import { collectForecasts } from '../../ops/metrics.ts';
import { noScoresText } from '../processes/history/run-history.ts';
import { runOperations } from '../processes/operations/run-operations.ts';
import { serveScores } from '../processes/prometheus/serve-scores.ts';
import { runSidecar } from '../processes/run-sidecar.ts';
import { printProblems, type RunnableCommand } from './command.ts';
import { printMadeKey, runService } from './run-service.ts';

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
    const { config } = loaded;
    const { kafka, modelsDir, http } = config;
    const catalog = await openCatalog({ modelsDir });
    return runService(
      {
        config,
        drainMs: http.drainMs,
        needsBroker: false,
        async start({ logger, metrics, ops }) {
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
            // Requests with series are answered as ever: the service stays in rotation.
            warnings: () => warningsOf(operations?.problem() ?? null),
            stop: async () => void (await Promise.all([sidecar.stop(), stopStream()])),
          };
        },
      },
      io,
    );
  },
};

function warningsOf(problem: HistoryProblem | null): readonly string[] {
  if (problem === null) return [];
  if (problem.due !== null) return [noScoresText(problem)];
  return [`nothing new is read from Kafka since ${new Date(problem.sinceMs).toISOString()}: ${problem.reason}`];
}
