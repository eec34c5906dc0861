import { remoteWriteOptions } from '../../../config/options/prometheus-options.ts';
import { runRemoteWrite } from '../../processes/prometheus/run-remote-write.ts';
import { command } from '../command.ts';
import { fromBeginning, readerOptions, runService } from './run-service.ts';

/** Writes value bands to Prometheus until it is stopped. */
export const remoteWriteCommand = command({
  own: { fromBeginning: fromBeginning('scores') },
  settings: { ...remoteWriteOptions, ...readerOptions },
  requires: ['brokers', 'remoteWriteUrl'],
  run({ values, config }, io) {
    const from = values.fromBeginning ? 'earliest' : 'latest';
    return runService({ config, io }, async ({ ops, ...reports }) => {
      const service = await runRemoteWrite({ config, from, ...reports });
      reports.logger.info({ ops }, 'bands are written');
      return service;
    });
  },
});
