import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fitExogenous, totalOf } from '../../../../src/detector/exogenous/exogenous-fit.ts';

const numeric = (values: number[]) => ({ values, categorical: false });
const categories = (values: number[]) => ({ values, categorical: true });

const load = Array.from({ length: 200 }, (_, i) => (i * 37) % 11);
const [MONDAY, TUESDAY, WEDNESDAY, SUNDAY] = [0, 1, 2, 6];
const day = Array.from({ length: 200 }, (_, i) => [MONDAY, TUESDAY, WEDNESDAY][i % 3]);
const lift = [0, 4, -4];
const target = load.map((value, i) => 100 + 2 * value + lift[day[i]]);

test('what variables add is found, numbers and categories alike, and is 0 on the mean', async () => {
  const variables = [numeric(load), categories(day), numeric(load.map(() => 7))];
  const fit = await fitExogenous(variables, target, 200, nextTurn);
  const contributions = fit.contributions(variables, 0, 200);
  const total = totalOf(contributions, 200);
  const mean = target.reduce((sum, value) => sum + value, 0) / 200;
  for (const [i, value] of total.entries()) assert.ok(Math.abs(value - (target[i] - mean)) < 0.05, `${i}`);
  for (const own of contributions) assert.ok(Math.abs(own.reduce((sum, value) => sum + value, 0)) < 1e-6);
  const [first, second, third] = fit.weights;
  assert.ok(first > second && second > 0 && third === 0);
  assert.ok(Math.abs(first + second + third - 1) < 1e-9);
});

test('a variable that is not known ahead, an unknown category and a missing value add nothing of their own', async () => {
  const fit = await fitExogenous([numeric(load), categories(day)], target, 200, nextTurn);
  const [own, other] = fit.contributions([null, categories([TUESDAY, SUNDAY, Number.NaN])], 0, 3);
  assert.deepEqual([...own], [0, 0, 0]);
  assert.ok(Math.abs(other[0] - 4) < 0.1);
  assert.ok(Math.abs(other[1]) < 0.1 && other[2] === 0);
  const [gap] = fit.contributions([numeric([Number.NaN]), null], 0, 1);
  assert.equal(gap[0], 0);
});

test('rows from the end on, and rows without a target, are not learnt from', async () => {
  const later = target.map((value, i) => (i >= 150 ? -1e6 * load[i] : i % 4 === 0 ? Number.NaN : value));
  const fit = await fitExogenous([numeric(load)], later, 150, nextTurn);
  const cut = await fitExogenous([numeric(load.slice(0, 150))], later.slice(0, 150), 150, nextTurn);
  const [whole] = fit.contributions([numeric(load)], 150, 50);
  assert.deepEqual(whole, cut.contributions([numeric(load)], 150, 50)[0]);
});
