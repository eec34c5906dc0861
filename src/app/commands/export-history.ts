import { join } from 'node:path';
import { readFlags } from '../../config/command-line.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { commandFlag, withDefault } from '../../config/option.ts';
import { historyOptions, processOptions } from '../../config/options.ts';
import { textOf } from '../../config/schema/kinds.ts';
import { mustBe } from '../../config/schema/problems.ts';
import { instant } from '../../config/schema/times.ts';
import { exportScores } from '../../history/export-scores.ts';
import { HISTORY_FILE } from '../../history/sql/history-database.ts';
import { DONE, WRONG_USE } from '../../tools/terminal/command-io.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';

const localParquet = textOf('a path on this machine that ends with .parquet', (path) =>
  path.endsWith('.parquet') && !/^[a-z0-9]+:\/\//i.test(path) ? path : undefined,
);

const ownFlags = {
  from: commandFlag('from', instant, 'event time of the oldest scores (default: all that are kept)'),
  to: commandFlag('to', instant, 'event time before which the newest lie (default: all)'),
  out: withDefault(commandFlag('out', localParquet, 'the file, which is replaced'), 'scores.parquet'),
};

export const historyCommand: RunnableCommand = {
  operands: ['ACTION'],
  options: [
    ...Object.values(ownFlags),
    ...Object.values(historyOptions),
    ...[processOptions.dataDir, processOptions.logLevel],
  ],
  async run([action = ''], flags, io) {
    if (action !== 'export') {
      io.err(mustBe('ACTION', 'export', action));
      return WRONG_USE;
    }
    const read = readFlags(flags, ownFlags);
    const loaded = loadProcessConfig(flags, []);
    if (read.kind === 'problems' || loaded.kind === 'problems') return printProblems(problemsIn(read, loaded), io);
    const { from: fromMs = 0, to: toMs = Number.MAX_SAFE_INTEGER, out } = read.values;
    const { dataDir, history } = loaded.config;
    if (fromMs >= toMs) return printProblems(['--to must be later than --from'], io);
    const file = join(dataDir, HISTORY_FILE);
    const rows = await exportScores({ fromMs, toMs, history: file, out, memoryMb: history.memoryMb });
    io.out(`${rows.toLocaleString('en-US')} scores are in ${out}.`);
    return DONE;
  },
};
