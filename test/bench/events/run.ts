/**
 * Events as people meet them: how many, whether an incident is one of them, how soon, and whether the kind is right.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from '../bench.ts';
import { generatedIncidents } from '../detection/injected-incidents.ts';
import { readLabelled } from '../detection/labelled-data.ts';
import { alertFigures, startFigures } from './alert-latency.ts';
import { incidentFigures } from './incident-events.ts';
import { kindFigures } from './kind-confusion.ts';

const DATA = fileURLToPath(new URL('../../../../shared', import.meta.url));

interface Options {
  readonly data: string;
  readonly everyNth: number;
}

/** Each part prints its tables and returns its figures. */
const PARTS: Readonly<Record<string, (options: Options) => Promise<Figures>>> = {
  incidents: ({ data, everyNth }) => incidentFigures(readLabelled(data, 'uni', everyNth), readLabelled(data, 'multi')),
  kinds: ({ everyNth }) => kindFigures(generatedIncidents(everyNth)),
  alerts: () => alertFigures(),
  start: () => startFigures(),
};

/** Of a quick run: every so many series. Three and two have no factor in common, so that both halves are in it. */
const QUICK = 3;

/**
 * @param args parts to run (all by default), `--data FOLDER` (with detection/), `--quick` takes a part of the series
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { data: { type: 'string', default: DATA }, quick: { type: 'boolean', default: false } },
  });
  const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) throw new Error(`no part ${unknown}; there are: ${Object.keys(PARTS).join(', ')}`);
  let figures: Figures = {};
  for (const [name, part] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    figures = { ...figures, ...(await part({ data: flags.data, everyNth: flags.quick ? QUICK : 1 })) };
  }
  return figures;
}
