import { readFlags } from '../../config/command-line.ts';
import { describeConfig } from '../../config/describe.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { commandFlag } from '../../config/option.ts';
import { workerOptions } from '../../config/options.ts';
import { text } from '../../config/schema/kinds.ts';
import { csvFlags, csvReading } from '../../tools/csv/flags.ts';
import { followDetectors } from '../processes/live-detectors.ts';
import { newestSaved } from '../processes/newest-detectors.ts';
import { resolveWithModels, runWorker } from '../processes/run-worker.ts';
import { configOf, printProblems, problemsIn, type RunnableCommand } from './command.ts';
import { runService } from './run-service.ts';

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
    const needs = ['brokers', 'detectors'] as const;
    return runService(
      {
        config: fromFile.config,
        async start({ logger, metrics }) {
          const saved = await newestSaved(fromFile.config.kafka!, fromFile.config.detectorsTopic);
          const loaded = configOf(loadProcessConfig(flags, needs, { detectorsText: saved?.text ?? null }));
          const { models, result } = await resolveWithModels(loaded);
          const resolved = configOf(result);
          const config = { ...resolved, kafka: resolved.kafka! };
          const version = saved?.version ?? 0;
          const worker = await runWorker({ config, models, logger, metrics, version, history });
          logger.info({ config: describeConfig(config) }, 'worker started');
          const unfollow = followDetectors({ flags, config, worker, logger, version });
          return {
            ...worker,
            stop() {
              unfollow();
              return worker.stop();
            },
          };
        },
      },
      io,
    );
  },
};
