import { describeConfig } from '../../../config/describe.ts';
import { loadProcessConfig } from '../../../config/load.ts';
import { commandFlag } from '../../../config/options/option.ts';
import { workerOptions } from '../../../config/options/options.ts';
import { text } from '../../../config/schema/kinds.ts';
import { csvFlags, csvReading } from '../../../tools/csv/flags.ts';
import { newestSaved } from '../../processes/detectors-topic.ts';
import { followDetectors } from '../../processes/live-detectors.ts';
import { resolveWithModels, runWorker } from '../../processes/run-worker.ts';
import { command, configOf } from '../command.ts';
import { runService } from './run-service.ts';

const own = {
  warmStart: commandFlag('warm-start', text, 'history for series without state: a CSV file, or topic:NAME'),
  ...csvFlags,
};

const NEEDS = ['brokers', 'detectors'] as const;

const scoring = command({
  own,
  settings: workerOptions,
  requires: NEEDS,
  run({ flags, values, config: fromFile }, io) {
    const { warmStart: name, group = null } = values;
    const history = name === undefined ? null : { name, csv: csvReading(name, values), group, stop: io.stop };
    return runService({ config: fromFile, io }, async ({ logger, metrics }) => {
      const saved = await newestSaved(fromFile.kafka, fromFile.detectorsTopic);
      const loaded = configOf(loadProcessConfig(flags, NEEDS, { detectorsText: saved?.text ?? null }));
      const { models, result } = await resolveWithModels(loaded);
      const resolved = configOf(result);
      const config = { ...resolved, kafka: resolved.kafka! };
      const version = saved?.version ?? 0;
      const worker = await runWorker({ config, models, logger, metrics, version, history });
      logger.info({ config: describeConfig(config) }, 'worker started');
      const unfollow = followDetectors({ flags, config, worker, logger, version });
      return {
        ...worker,
        stop() {
          unfollow();
          return worker.stop();
        },
      };
    });
  },
});

/** Scores the observations of a cluster until it is stopped. Its help begins with what it needs. */
export const workerCommand = { ...scoring, options: [...Object.values(workerOptions), ...Object.values(own)] };
