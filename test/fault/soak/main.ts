/**
 * `npm run soak -- --minutes N [--per-second N] [--series N] [--kill-minutes N]`. Prints, as the very last line, one
 * JSON object.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runSoak } from './soak-run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'per-second': { type: 'string', default: '5000' },
    series: { type: 'string', default: '10000' },
    'kill-minutes': { type: 'string', default: '5' },
  },
});
const options = {
  minutes: Number(values.minutes),
  perSecond: Number(values['per-second']),
  series: Number(values.series),
  killMinutes: Number(values['kill-minutes']),
};
const { examples, crashes, ...figures } = await runSoak({ ...options, log: console.log });
for (const text of [...examples, ...crashes]) console.log(text);
const { minutes, series, perSecond: per_second } = options;
console.log(
  JSON.stringify({
    bench: 'soak',
    cores: availableParallelism(),
    node: process.version,
    minutes,
    series,
    per_second,
    ...figures,
    crashes: crashes.length,
  }),
);
process.exitCode = figures.lost + figures.twice + figures.different + crashes.length === 0 ? 0 : 1;
process.exit();
