import { join } from 'node:path';
import { commandFlag } from '../../config/options/option.ts';
import { historyOptions, processOptions } from '../../config/options/options.ts';
import { textOf } from '../../config/schema/kinds.ts';
import { mustBe } from '../../config/schema/problems.ts';
import { instant } from '../../config/schema/times.ts';
import { exportScores } from '../../history/export-scores.ts';
import { HISTORY_FILE } from '../../history/sql/history-database.ts';
import { DONE, WRONG_USE } from '../../tools/terminal/command-io.ts';
import { command, printProblems } from './command.ts';

const localParquet = textOf('a path on this machine that ends with .parquet', (path) =>
  path.endsWith('.parquet') && !/^[a-z0-9]+:\/\//i.test(path) ? path : undefined,
);

const own = {
  from: commandFlag('from', instant, 'exports scores from this event time on (default: from the oldest)'),
  to: commandFlag('to', instant, 'exports scores before this event time (default: to the newest)'),
  out: commandFlag('out', localParquet, 'Parquet file; an existing one is replaced', 'scores.parquet'),
};

export const historyCommand = command({
  operands: ['ACTION'],
  own,
  settings: { ...historyOptions, dataDir: processOptions.dataDir, logLevel: processOptions.logLevel },
  async run({ operands: [action = ''], values, config: { dataDir, history } }, io) {
    if (action !== 'export') {
      io.err(mustBe('ACTION', 'export', action));
      return WRONG_USE;
    }
    const { from: fromMs = 0, to: toMs = Number.MAX_SAFE_INTEGER, out } = values;
    if (fromMs >= toMs) return printProblems(['--to must be later than --from'], io);
    const file = join(dataDir, HISTORY_FILE);
    const rows = await exportScores({ fromMs, toMs, history: file, out, memoryMb: history.memoryMb });
    io.out(`${rows.toLocaleString('en-US')} scores are in ${out}.`);
    return DONE;
  },
});
