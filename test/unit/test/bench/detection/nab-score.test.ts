import assert from 'node:assert/strict';
import test from 'node:test';
import { type NabFile, NabSweep, probationRows } from '../../../../bench/detection/nab-score.ts';

const STANDARD = { tp: 1, fp: 0.11, fn: 1 };
const LENGTH = 100;

/** Incidents in rows 40 to 50 and 80 to 90, and scores at some rows. */
function file(scores: Readonly<Record<number, number>>): NabFile {
  return {
    name: 'hand-made',
    scores: Float64Array.from({ length: LENGTH }, (_, row) => scores[row] ?? 0),
    windows: [
      { start: 40, end: 51 },
      { start: 80, end: 91 },
    ],
  };
}

const sigmoid = (position: number) => 2 / (1 + Math.exp(5 * position)) - 1;
const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

test('nothing detected is 0, each incident detected at once is 100', () => {
  near(new NabSweep([file({})], STANDARD).scoreAt(1), 0);
  near(new NabSweep([file({ 40: 1, 80: 1 })], STANDARD).scoreAt(1), 100);
});

test('the first detection of an incident counts, the less the later it is', () => {
  const late = new NabSweep([file({ 45: 1, 49: 1 })], STANDARD);
  // Of four points between nothing and all, one is for not missing the incident; the rest is what it earns.
  near(late.scoreAt(1), (100 * (1 + sigmoid(-6 / 11) / sigmoid(-1))) / 4);
});

test('a false detection costs the more the further it is behind the last incident, and most where none was', () => {
  near(new NabSweep([file({ 20: 1 })], STANDARD).scoreAt(1), (100 * -0.11) / 4);
  near(new NabSweep([file({ 52: 1 })], STANDARD).scoreAt(1), (100 * 0.11 * sigmoid(2 / 10)) / 4);
  near(new NabSweep([file({ 79: 1 })], STANDARD).scoreAt(1), (100 * 0.11 * sigmoid(29 / 10)) / 4);
});

test('nothing counts in probation, 15 % of a file and at most 750 rows', () => {
  assert.deepEqual([probationRows(LENGTH), probationRows(20_000)], [15, 750]);
  near(new NabSweep([file({ 14: 1 })], STANDARD).scoreAt(1), 0);
});

test('the profile that dislikes missing incidents counts them twice', () => {
  near(new NabSweep([file({ 40: 1 })], { tp: 1, fp: 0.11, fn: 2 }).scoreAt(1), 50);
  near(new NabSweep([file({ 20: 1 })], { tp: 1, fp: 0.11, fn: 2 }).scoreAt(1), (100 * -0.11) / 6);
});

test('the best threshold is one for all files', () => {
  const sweep = new NabSweep([file({ 40: 5, 80: 3 }), file({ 20: 4, 40: 5, 80: 5 })], STANDARD);
  const { threshold, score } = sweep.best();
  assert.equal(threshold, 3);
  near(score, (100 * (8 - 0.11)) / 8);
  near(sweep.scoreAt(5), 75);
  near(sweep.scoreAt(4.5), 75);
});

test('a row without a score is never detected', () => {
  const silent = new NabSweep([{ ...file({}), scores: new Float64Array(LENGTH).fill(Number.NaN) }], STANDARD);
  near(silent.scoreAt(Number.NEGATIVE_INFINITY), 0);
});
