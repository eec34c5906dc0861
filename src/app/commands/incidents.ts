import { readFlags } from '../../config/command-line.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { incidentOptions } from '../../config/topic-options.ts';
import { runIncidents } from '../processes/incidents/run-incidents.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';
import { fromBeginning, readerOptions, runService } from './run-service.ts';

const ownFlags = {
  fromBeginning: fromBeginning('events'),
};

/** Groups the events of a cluster until it is stopped. */
export const incidentsCommand: RunnableCommand = {
  options: [...Object.values(ownFlags), ...Object.values(incidentOptions), ...readerOptions],
  async run(_operands, flags, io) {
    const read = readFlags(flags, ownFlags);
    const loaded = loadProcessConfig(flags, ['brokers']);
    if (read.kind === 'problems' || loaded.kind === 'problems') return printProblems(problemsIn(read, loaded), io);
    const config = { ...loaded.config, kafka: loaded.config.kafka! };
    const from = read.values.fromBeginning ? 'earliest' : 'latest';
    return runService(
      {
        config,
        async start({ ops, ...reports }) {
          const service = await runIncidents({ config, from, ...reports });
          reports.logger.info({ url: ops }, 'incidents started');
          return service;
        },
      },
      io,
    );
  },
};
