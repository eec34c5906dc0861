/** How well anomalies are found, and what alarms are worth, compared with rivals on the same rows. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from '../bench.ts';
import { printTable, rounded } from '../table.ts';
import { type Contestant, OURS, RANDOM_CUT_FOREST, rivals } from './contestants.ts';
import { injectedFigures } from './injected.ts';
import { generatedIncidents, realIncidents } from './injected-incidents.ts';
import { groupFigures, labelledScores, seriesFigures } from './labelled.ts';
import { readLabelled, type SeriesInput } from './labelled-data.ts';
import { nabFigures } from './nab.ts';
import { targetRateFigures } from './target-rate.ts';

const DATA = fileURLToPath(new URL('../../../../shared', import.meta.url));
const PARTS = ['series', 'groups', 'target', 'nab', 'injected', 'speed'] as const;
type Part = (typeof PARTS)[number];
/** Of a quick run: every so many series. Three and two have no factor in common, so that both halves are in it. */
const QUICK = 3;
/** On a machine that does other things too, the best of a few rounds, taken in turns, says the most. */
const SPEED_ROUNDS = 2;
const FLEET_PARTS = 10;

/**
 * @param args parts to run (all by default), `--data FOLDER` (with detection/ and data/nab/), `--quick` takes a part of
 *   the series, `--no-rivals` measures ours alone
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: {
      data: { type: 'string', default: DATA },
      quick: { type: 'boolean', default: false },
      rivals: { type: 'boolean', default: true },
    },
  });
  const unknown = positionals.find((name) => !PARTS.includes(name as Part));
  if (unknown !== undefined) throw new Error(`no part ${unknown} of this bench; there are: ${PARTS.join(', ')}`);
  const wanted = (part: Part) => positionals.length === 0 || positionals.includes(part);
  const everyNth = flags.quick ? QUICK : 1;
  const able = [OURS, ...(flags.rivals ? await rivals() : [])];
  return {
    ...(await onLabelled(flags.data, able, everyNth, wanted)),
    ...(wanted('nab') && (await nabFigures(flags.data, able, everyNth))),
    ...(wanted('injected') && (await onInjected(flags.data, able, everyNth))),
    ...(wanted('speed') && (await speedFigures(able, everyNth))),
  };
}

async function onLabelled(
  data: string,
  able: readonly Contestant[],
  everyNth: number,
  wanted: (part: Part) => boolean,
): Promise<Figures> {
  const series = readLabelled(data, 'uni', everyNth);
  if (series.length === 0) {
    console.log(`Without labelled series: there is no ${data}/detection.`);
    return {};
  }
  const groups = readLabelled(data, 'multi');
  return {
    ...(wanted('series') && seriesFigures(await labelledScores('series', series, able))),
    ...(wanted('groups') && groupFigures(await labelledScores('groups', groups, able))),
    ...(wanted('target') && (await targetRateFigures(series, groups))),
  };
}

async function onInjected(data: string, able: readonly Contestant[], everyNth: number): Promise<Figures> {
  const generated = generatedIncidents(everyNth);
  const real = realIncidents(readLabelled(data, 'uni', everyNth));
  return {
    ...(await injectedFigures('incidents in generated series', 'generated', generated, able)),
    ...(await injectedFigures('incidents in quiet stretches of real series', 'real', real, able)),
  };
}

/** Many series at once, as a worker has them: each generated series in parts. */
function fleet(everyNth: number): SeriesInput[] {
  return generatedIncidents(everyNth).flatMap(({ name, stepMs, times, channels: [values] }) => {
    const rows = Math.floor(times.length / FLEET_PARTS);
    return Array.from({ length: FLEET_PARTS }, (_, part) => ({
      name: `${name}-${part}`,
      stepMs,
      times: times.slice(0, rows),
      channels: [values.slice(part * rows, (part + 1) * rows)],
    }));
  });
}

async function speedFigures(able: readonly Contestant[], everyNth: number): Promise<Figures> {
  const inputs = fleet(everyNth);
  const speeds = new Map<Contestant, number>();
  for (let round = 0; round < SPEED_ROUNDS; round++) {
    for (const contestant of able) {
      speeds.set(contestant, Math.max(speeds.get(contestant) ?? 0, await contestant.speed(inputs)));
    }
  }
  const ours = speeds.get(OURS)!;
  printTable(
    'speed: scoring alone, 300 series of 540 values, by processor time',
    ['detector', 'observations/s a core', 'ours to it'],
    able.map((one) => [one.name, speeds.get(one)!, ours / speeds.get(one)!]),
  );
  const forest = able.find(({ key }) => key === RANDOM_CUT_FOREST);
  return {
    ...Object.fromEntries(able.map((one) => [`${one.key}_obs_per_s_core`, rounded(speeds.get(one)!)])),
    ...(forest && { rcf_ratio: rounded(ours / speeds.get(forest)!) }),
  };
}
