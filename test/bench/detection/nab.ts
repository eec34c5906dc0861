/** NAB with the shipped defaults for all files and profiles: no threshold is searched. */

import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { type Contestant, OURS } from './contestants.ts';
import {
  NAB_PROFILES,
  type NabInput,
  type NabProfileName,
  nabFolder,
  readNabInputs,
  readNabProfiles,
} from './nab-data.ts';
import { type NabFile, NabSweep } from './nab-score.ts';
import { judge } from './product.ts';
import { episodesOf } from './target-rate.ts';

/** Standard, low FP and low FN of others as they were published, each at its best threshold for each profile. */
const PUBLISHED: readonly (readonly [string, number, number, number])[] = [
  ['Numenta HTM', 70.5, 62.6, 75.2],
  ['ARTime', 74.9, Number.NaN, Number.NaN],
];

export async function nabFigures(data: string, able: readonly Contestant[], everyNth: number): Promise<Figures> {
  const inputs = readNabInputs(nabFolder(data), everyNth);
  if (inputs.length === 0) {
    console.log(`Without NAB: there is no ${data}/data/nab.`);
    return {};
  }
  const profiles = readNabProfiles(nabFolder(data));
  const sweep = (files: readonly NabFile[], profile: NabProfileName) => new NabSweep(files, profiles[profile]);
  const rows: Cell[][] = [];
  const verdicts = await judge(inputs);
  const alarms = filesOf(inputs, (i) => alarmScores(verdicts[i].alarm));
  const scores = NAB_PROFILES.map((profile) => sweep(alarms, profile).scoreAt(1));
  rows.push(['tidewatch, alarms of the defaults', 'none searched', ...scores]);
  const addBest = (name: string, files: readonly NabFile[]) => {
    const best = NAB_PROFILES.map((profile) => sweep(files, profile).best().score);
    rows.push([name, 'best of each profile', ...best]);
  };
  for (const contestant of able) {
    const scored = contestant === OURS ? verdicts : await contestant.score(inputs);
    const name = contestant === OURS ? 'tidewatch, every row by its grade' : contestant.name;
    addBest(
      name,
      filesOf(inputs, (i) => scored[i].grade),
    );
  }
  for (const [name, ...published] of PUBLISHED) {
    rows.push([`${name}, published`, 'best of each profile', ...published]);
  }
  printTable(
    `NAB, ${inputs.length} files; detections of alarms: the first rows of episodes`,
    ['detector', 'threshold', 'standard', 'low FP', 'low FN'],
    rows,
  );
  const [standard, lowFp, lowFn] = scores.map(rounded);
  return { nab_standard: standard, nab_low_fp: lowFp, nab_low_fn: lowFn };
}

/** 1 where an alarm episode begins. */
export function alarmScores(alarm: Uint8Array): Float64Array {
  const scores = new Float64Array(alarm.length);
  for (const { start } of episodesOf(alarm)) scores[start] = 1;
  return scores;
}

function filesOf(inputs: readonly NabInput[], scoresOf: (index: number) => Float64Array): NabFile[] {
  return inputs.map(({ name, windows }, i) => ({ name, windows, scores: scoresOf(i) }));
}
