import { setTimeout } from 'node:timers/promises';
import { loadProcessConfig } from '../../config/load.ts';
import {
  detectorsOptions,
  httpOptions,
  kafkaOptions,
  processOptions,
  streamOptions,
  workerLimits,
} from '../../config/options.ts';
import { createLogger } from '../../ops/logger.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { aborted, DONE } from '../../tools/terminal/command-io.ts';
import { runReceiver } from '../processes/run-receiver.ts';
import { runReceiverService } from '../processes/run-receiver-service.ts';
import { printProblems, problemOfInput, type RunnableCommand } from './command.ts';
import { brokersAnswer } from './run-service.ts';

/** Receives points of metric pipelines over HTTP until it is stopped. */
export const receiveCommand: RunnableCommand = {
  options: [
    ...Object.values(kafkaOptions),
    ...Object.values(streamOptions),
    ...Object.values(detectorsOptions),
    ...Object.values(httpOptions),
    workerLimits.shutdownMsMax,
    workerLimits.startWaitMs,
    ...Object.values(processOptions),
  ],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers']);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { config } = loaded;
    const unfit = problemOfInput(config.stream.input, 'receive');
    if (unfit !== null) return printProblems([unfit], io);
    const { opsHost: host, opsPort: port, logLevel } = config;
    const metrics = createMetrics({ collectProcess: true });
    const logger = createLogger(logLevel);
    if (!(await brokersAnswer(config, logger, io))) return DONE;
    const receiver = await runReceiver({ config, kafka: config.kafka!, flags, metrics, logger });
    const service = await runReceiverService({ config, receivePoints: receiver.receivePoints, metrics, logger });
    const reasonsNotReady = () =>
      io.stop.aborted ? ['the service is ending'] : [...service.reasonsNotReady(), ...receiver.reasonsNotReady()];
    const ops = await startOpsServer({ host, port, metrics, reasonsNotReady });
    try {
      if (service.madeKey !== null) {
        io.err(`There was no key. The first one was made and stored; it is shown once: ${service.madeKey}`);
      }
      logger.info({ url: service.url, ops: ops.url }, 'receiving');
      await aborted(io.stop);
      if (io.stop.reason === 'SIGTERM') await setTimeout(config.http.drainMs);
      logger.info('ending: what was received is written');
      await service.stop();
      await receiver.stop();
    } finally {
      await ops.close();
    }
    return DONE;
  },
};
