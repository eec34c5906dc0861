import { loadProcessConfig } from '../../config/load.ts';
import {
  httpOptions,
  kafkaOptions,
  processOptions,
  receiveOptions,
  streamOptions,
  workerLimits,
} from '../../config/options.ts';
import { detectorsOptions } from '../../config/topic-options.ts';
import { runReceiver } from '../processes/run-receiver.ts';
import { runReceiverService } from '../processes/run-receiver-service.ts';
import { printProblems, problemOfInput, type RunnableCommand } from './command.ts';
import { printMadeKey, runService } from './run-service.ts';

/** Receives points of metric pipelines over HTTP and gRPC until it is stopped. */
export const receiveCommand: RunnableCommand = {
  options: [
    ...Object.values(kafkaOptions),
    ...Object.values(streamOptions),
    ...Object.values(detectorsOptions),
    ...Object.values(httpOptions),
    ...Object.values(receiveOptions),
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
    return runService(
      {
        config,
        drainMs: config.http.drainMs,
        async start({ logger, metrics, ops }) {
          const receiver = await runReceiver({ config, kafka: config.kafka!, flags, metrics, logger });
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
        },
      },
      io,
    );
  },
};
