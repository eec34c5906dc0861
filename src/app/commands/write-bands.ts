import { readFlags } from '../../config/command-line.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { remoteWriteOptions } from '../../config/prometheus-options.ts';
import { runRemoteWrite } from '../processes/prometheus/run-remote-write.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';
import { fromBeginning, readerOptions, runService } from './run-service.ts';

const ownFlags = {
  fromBeginning: fromBeginning('scores'),
};

/** Writes value bands to Prometheus until it is stopped. */
export const remoteWriteCommand: RunnableCommand = {
  options: [...Object.values(ownFlags), ...Object.values(remoteWriteOptions), ...readerOptions],
  async run(_operands, flags, io) {
    const read = readFlags(flags, ownFlags);
    const loaded = loadProcessConfig(flags, ['brokers', 'remoteWriteUrl']);
    if (read.kind === 'problems' || loaded.kind === 'problems') return printProblems(problemsIn(read, loaded), io);
    const config = { ...loaded.config, kafka: loaded.config.kafka!, remoteWrite: loaded.config.remoteWrite! };
    const from = read.values.fromBeginning ? 'earliest' : 'latest';
    return runService(
      {
        config,
        async start({ ops, ...reports }) {
          const service = await runRemoteWrite({ config, from, ...reports });
          reports.logger.info({ ops }, 'bands are written');
          return service;
        },
      },
      io,
    );
  },
};
