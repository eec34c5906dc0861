import { loadProcessConfig } from '../../config/load.ts';
import { kafkaOptions, processOptions, prometheusOptions, streamOptions, workerLimits } from '../../config/options.ts';
import { detectorsOptions } from '../../config/topic-options.ts';
import { runPoller } from '../processes/run-poller.ts';
import { printProblems, problemOfInput, type RunnableCommand } from './command.ts';
import { runService } from './run-service.ts';

/** Polls the sources of the detectors file until it is stopped. */
export const pollCommand: RunnableCommand = {
  options: [
    ...Object.values(kafkaOptions),
    ...Object.values(streamOptions),
    ...Object.values(detectorsOptions),
    ...Object.values(prometheusOptions),
    workerLimits.shutdownMsMax,
    workerLimits.startWaitMs,
    ...Object.values(processOptions),
  ],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers', 'detectors', 'sourceHeaders']);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { config } = loaded;
    const unfit = problemOfInput(config.stream.input, 'poll');
    if (unfit !== null) return printProblems([unfit], io);
    if (config.sources.length === 0) {
      const expected = 'source must be a mapping with prometheus, query and step, or a list of such';
      return printProblems([`${config.detectorsFile}: ${expected}, got nothing`], io);
    }
    return runService(
      {
        config,
        async start({ logger, metrics, ops }) {
          const poller = await runPoller({ config, kafka: config.kafka!, flags, metrics, logger });
          const sources = config.sources.map(({ name, url }) => ({ name, url }));
          logger.info({ sources, ops }, 'polling');
          return poller;
        },
      },
      io,
    );
  },
};
