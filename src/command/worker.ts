import { describeConfig } from '../config/describe.ts';
import { loadProcessConfig } from '../config/load.ts';
import { options } from '../config/options.ts';
import { createLogger } from '../telemetry/logger.ts';
import { aborted, DONE, FAILED, type RunnableCommand, sayProblems, withDeadline } from './command.ts';
import { resolveWithModels, runWorker } from './run-worker.ts';

/** Scores the observations of a cluster until it is told to stop. */
export const workerCommand: RunnableCommand = {
  name: 'worker',
  summary: 'Scores the series of a detectors file on the cluster of KAFKA_BROKERS',
  options: Object.values(options),
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers', 'detectors']);
    if (loaded.kind === 'problems') return sayProblems(loaded.problems, io);
    const { catalog, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems') return sayProblems(result.problems, io);
    const { config } = result;
    const logger = createLogger(config.logLevel);
    const worker = await runWorker({ ...config, kafka: config.kafka! }, catalog, logger);
    logger.info({ config: describeConfig(config) }, 'worker started');
    const failure = await Promise.race([worker.finished, aborted(io.stop)]);
    if (failure) logger.fatal({ err: failure }, 'the worker cannot go on');
    else logger.info('stopping');
    await withDeadline(worker.stop(), config.worker.shutdownMsMax);
    return failure ? FAILED : DONE;
  },
};
