import { loadProcessConfig } from '../../config/load.ts';
import {
  detectorsOptions,
  kafkaOptions,
  processOptions,
  prometheusOptions,
  streamOptions,
  workerLimits,
} from '../../config/options.ts';
import { createLogger } from '../../ops/logger.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { aborted, DONE, FAILED } from '../../tools/terminal/command-io.ts';
import { runPoller } from '../processes/run-poller.ts';
import { printProblems, problemOfInput, type RunnableCommand } from './command.ts';
import { brokersAnswer } from './run-service.ts';

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
    const { opsHost: host, opsPort: port, logLevel } = config;
    const metrics = createMetrics({ collectProcess: true });
    const logger = createLogger(logLevel);
    if (!(await brokersAnswer(config, logger, io))) return DONE;
    const poller = await runPoller({ config, kafka: config.kafka!, flags, metrics, logger });
    try {
      const reasonsNotReady = () => poller.reasonsNotReady();
      const ops = await startOpsServer({ host, port, metrics, reasonsNotReady });
      try {
        const sources = config.sources.map(({ name, url }) => ({ name, url }));
        logger.info({ sources, ops: ops.url }, 'polling');
        const failure = await Promise.race([poller.finished, aborted(io.stop)]);
        if (!failure) return DONE;
        io.err(`Polling cannot continue: ${failure.message}`);
        return FAILED;
      } finally {
        await ops.close();
      }
    } finally {
      await poller.stop();
    }
  },
};
