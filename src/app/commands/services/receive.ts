import {
  httpOptions,
  kafkaOptions,
  processOptions,
  receiveOptions,
  streamOptions,
  workerLimits,
} from '../../../config/options/options.ts';
import { detectorsOptions } from '../../../config/options/topic-options.ts';
import { runReceiver } from '../../processes/run-receiver.ts';
import { runReceiverService } from '../../processes/run-receiver-service.ts';
import { command, printProblems, problemOfInput } from '../command.ts';
import { printMadeKey, runService } from './run-service.ts';

/** Receives points of metric pipelines over HTTP and gRPC until it is stopped. */
export const receiveCommand = command({
  own: {},
  settings: {
    ...kafkaOptions,
    ...streamOptions,
    ...detectorsOptions,
    ...httpOptions,
    ...receiveOptions,
    shutdownMsMax: workerLimits.shutdownMsMax,
    startWaitMs: workerLimits.startWaitMs,
    ...processOptions,
  },
  requires: ['brokers'],
  async run({ flags, config }, io) {
    const { kafka } = config;
    const unfit = problemOfInput(config.stream.input, 'receive');
    if (unfit !== null) return printProblems([unfit], io);
    return runService({ config, io, drainMs: config.http.drainMs }, async ({ logger, metrics, ops }) => {
      const receiver = await runReceiver({ config, kafka, flags, metrics, logger });
      const { receivePoints } = receiver;
      const service = await runReceiverService({ config, receivePoints, metrics, logger });
      printMadeKey(service.madeKey, io);
      logger.info({ url: service.url, grpc: service.grpc, ops }, 'receiving');
      return {
        notReady: () => [...service.reasonsNotReady(), ...receiver.reasonsNotReady()],
        async stop() {
          await service.stop();
          await receiver.stop();
        },
      };
    });
  },
});
