import { readFlags } from '../../config/command-line.ts';
import { describeConfig } from '../../config/describe.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { commandFlag } from '../../config/option.ts';
import { workerOptions } from '../../config/options.ts';
import { text } from '../../config/schema/kinds.ts';
import { createLogger } from '../../ops/logger.ts';
import { csvFlags, csvReading } from '../../tools/csv/flags.ts';
import { aborted, DONE, FAILED, withDeadline } from '../../tools/terminal/command-io.ts';
import { followDetectors } from '../processes/live-detectors.ts';
import { newestSaved } from '../processes/newest-detectors.ts';
import { resolveWithModels, runWorker } from '../processes/run-worker.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';
import { brokersAnswer } from './run-service.ts';

const ownFlags = {
  warmStart: commandFlag('warm-start', text, 'history that new series begin with: a CSV file, or topic:NAME'),
  ...csvFlags,
};

/** Scores the observations of a cluster until it is stopped. */
export const workerCommand: RunnableCommand = {
  options: [...Object.values(workerOptions), ...Object.values(ownFlags)],
  async run(_operands, flags, io) {
    const fromFile = loadProcessConfig(flags, ['brokers', 'detectors']);
    const read = readFlags(flags, ownFlags);
    if (fromFile.kind === 'problems' || read.kind === 'problems') return printProblems(problemsIn(fromFile, read), io);
    const { warmStart: name, group = null } = read.values;
    const history = name === undefined ? null : { name, csv: csvReading(name, read.values), group, stop: io.stop };
    const logger = createLogger(fromFile.config.logLevel);
    const kafka = fromFile.config.kafka!;
    if (!(await brokersAnswer(fromFile.config, logger, io))) return DONE;
    const reading = newestSaved(kafka, fromFile.config.detectorsTopic);
    const saved = await Promise.race([reading, aborted(io.stop)]);
    if (io.stop.aborted) {
      // The broker may not answer for a while.
      reading.catch(() => undefined);
      return DONE;
    }
    const loaded = loadProcessConfig(flags, ['brokers', 'detectors'], { detectorsText: saved?.text ?? null });
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { models, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems') return printProblems(result.problems, io);
    const { config } = result;
    const version = saved?.version ?? 0;
    const starting = runWorker({ config: { ...config, kafka }, models, logger, version, history });
    const worker = await Promise.race([starting, aborted(io.stop)]);
    if (!worker) {
      const ending = starting.then((late) => late.stop()).catch(() => undefined);
      await withDeadline(ending, config.worker.shutdownMsMax);
      return DONE;
    }
    logger.info({ config: describeConfig(config) }, 'worker started');
    const running = { ...config, kafka };
    const unfollow = followDetectors({ flags, config: running, worker, logger, version });
    const failure = await Promise.race([worker.finished, aborted(io.stop)]);
    if (failure) logger.fatal({ err: failure }, 'the worker cannot continue');
    else logger.info('stopping');
    unfollow();
    await withDeadline(worker.stop(), config.worker.shutdownMsMax);
    return failure ? FAILED : DONE;
  },
};
