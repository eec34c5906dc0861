import { incidentOptions } from '../../../config/options/topic-options.ts';
import { runIncidents } from '../../processes/incidents/run-incidents.ts';
import { command } from '../command.ts';
import { fromBeginning, readerOptions, runService } from './run-service.ts';

/** Groups the events of a cluster until it is stopped. */
export const incidentsCommand = command({
  own: { fromBeginning: fromBeginning('events') },
  settings: { ...incidentOptions, ...readerOptions },
  requires: ['brokers'],
  run({ values, config }, io) {
    const from = values.fromBeginning ? 'earliest' : 'latest';
    return runService({ config, io }, async ({ ops, ...reports }) => {
      const service = await runIncidents({ config, from, ...reports });
      reports.logger.info({ url: ops }, 'incidents started');
      return service;
    });
  },
});
