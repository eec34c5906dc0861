import {
  kafkaOptions,
  processOptions,
  prometheusOptions,
  streamOptions,
  workerLimits,
} from '../../../config/options/options.ts';
import { detectorsOptions } from '../../../config/options/topic-options.ts';
import { runPoller } from '../../processes/run-poller.ts';
import { command, printProblems, problemOfInput } from '../command.ts';
import { runService } from './run-service.ts';

/** Polls the sources of the detectors file until it is stopped. */
export const pollCommand = command({
  own: {},
  settings: {
    ...kafkaOptions,
    ...streamOptions,
    ...detectorsOptions,
    ...prometheusOptions,
    shutdownMsMax: workerLimits.shutdownMsMax,
    startWaitMs: workerLimits.startWaitMs,
    ...processOptions,
  },
  requires: ['brokers', 'detectors', 'sourceHeaders'],
  async run({ flags, config }, io) {
    const { kafka } = config;
    const unfit = problemOfInput(config.stream.input, 'poll');
    if (unfit !== null) return printProblems([unfit], io);
    if (config.sources.length === 0) {
      const expected = 'source must be a mapping with prometheus, query and step, or a list of such';
      return printProblems([`${config.detectorsFile}: ${expected}, got nothing`], io);
    }
    return runService({ config, io }, async ({ logger, metrics, ops }) => {
      const poller = await runPoller({ config, kafka, flags, metrics, logger });
      const sources = config.sources.map(({ name, url }) => ({ name, url }));
      logger.info({ sources, ops }, 'polling');
      return poller;
    });
  },
});
