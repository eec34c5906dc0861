/** NAB with one threshold for all files and profiles, chosen on half of the files. */

import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { type Contestant, OURS } from './contestants.ts';
import { NAB_PROFILES, type NabInput, type NabProfileName, readNabInputs, readNabProfiles } from './nab-data.ts';
import { type NabFile, NabSweep } from './nab-score.ts';
import { windowedGaussian } from './windowed-gaussian.ts';

/** Of our grade. The bench says which one the choosing half asks for. */
const OUR_THRESHOLD = 10.15;
/** Standard, low FP and low FN of others as they were published, each at its best threshold for each profile. */
const PUBLISHED: readonly (readonly [string, number, number, number])[] = [
  ['windowed Gaussian', 39.6, 20.9, 47.4],
  ['random cut forest', 51.7, 38.4, 59.7],
];

export async function nabFigures(data: string, able: readonly Contestant[], everyNth: number): Promise<Figures> {
  const inputs = readNabInputs(data, everyNth);
  if (inputs.length === 0) {
    console.log(`Without NAB: there is no ${data}/data/nab.`);
    return {};
  }
  const profiles = readNabProfiles(data);
  const sweep = (files: readonly NabFile[], profile: NabProfileName) => new NabSweep(files, profiles[profile]);
  const rows: Cell[][] = [];
  let figures: Figures = {};
  for (const contestant of able) {
    const scores = await contestant.score(inputs);
    const files = filesOf(inputs, (i) => scores[i].grade);
    const [choosing, reported] = [0, 1].map((half) => files.filter((_, i) => i % 2 === half)) as [NabFile[], NabFile[]];
    const chosen = sweep(choosing, 'standard').best().threshold;
    const threshold = contestant === OURS ? OUR_THRESHOLD : chosen;
    const sweeps = NAB_PROFILES.map((profile) => sweep(files, profile));
    const fixed = sweeps.map((each) => each.scoreAt(threshold));
    const onReported = sweep(reported, 'standard').scoreAt(threshold);
    rows.push([
      contestant.name,
      ...fixed,
      onReported,
      digits(threshold),
      digits(chosen),
      ...sweeps.map((each) => each.best().score),
    ]);
    if (contestant === OURS) {
      const [standard, lowFp, lowFn] = fixed.map(rounded);
      figures = { nab_standard: standard, nab_low_fp: lowFp, nab_low_fn: lowFn };
      figures = { ...figures, nab_standard_reported: rounded(onReported) };
    }
  }
  const gaussian = filesOf(inputs, (i) => windowedGaussian(inputs[i].channels[0]));
  const best = NAB_PROFILES.map((profile) => sweep(gaussian, profile).best().score);
  const unknown: Cell[] = [...new Array<number>(4).fill(Number.NaN), '', ''];
  rows.push(['windowed Gaussian', ...unknown, ...best]);
  for (const [name, ...scores] of PUBLISHED) rows.push([`${name}, published`, ...unknown, ...scores]);
  printTable(
    `NAB, ${inputs.length} files, one threshold for all; reported: the half it was not chosen on`,
    [
      ...['detector', 'standard', 'low FP', 'low FN', 'standard, reported', 'threshold', 'chosen on half'],
      ...['best standard', 'best low FP', 'best low FN'],
    ],
    rows,
  );
  return figures;
}

/** A threshold may be close to others. */
function digits(threshold: number): string {
  return threshold.toPrecision(6);
}

function filesOf(inputs: readonly NabInput[], scoresOf: (index: number) => Float64Array): NabFile[] {
  return inputs.map(({ name, windows }, i) => ({ name, windows, scores: scoresOf(i) }));
}
