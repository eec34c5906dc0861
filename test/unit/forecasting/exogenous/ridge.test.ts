import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fitRidge } from '../../../../src/forecasting/exogenous/ridge.ts';

/** With an intercept. */
const fit = (columns: readonly Float64Array[], target: Float64Array, pause: () => Promise<unknown> = nextTurn) =>
  fitRidge({ columns, target, unpenalised: [target.map(() => 1)], pause });

/** Repeatable noise, standardised. */
function column(rows: number, seed: number): Float64Array {
  const raw = Float64Array.from(
    { length: rows },
    (_, i) => (Math.sin((i + 1) * (seed + 1) * 12.9898) * 43758.5453) % 1,
  );
  const mean = raw.reduce((sum, value) => sum + value, 0) / rows;
  const deviation = Math.sqrt(raw.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rows);
  return raw.map((value) => (value - mean) / deviation);
}

test('true effects are estimated', async () => {
  const [first, second, noise] = [1, 2, 3].map((seed) => column(300, seed));
  const target = first.map((value, i) => 5 + 3 * value - 2 * second[i] + 0.1 * noise[i]);
  const { weights } = await fit([first, second], target);
  assert.ok(Math.abs(weights[0] - 3) < 0.05 && Math.abs(weights[1] + 2) < 0.05, String(weights));
});

test('where no penalty lowers the leave-one-out error, all weights are 0', async () => {
  const { weights } = await fit([column(12, 1)], new Float64Array(12));
  assert.deepEqual([...weights], [0]);
  assert.deepEqual([...(await fit([Float64Array.of(1, -1)], Float64Array.of(1, 2))).weights], [0]);
});

test('the chosen penalty has the least leave-one-out error', async () => {
  const rows = 20;
  const columns = [1, 2, 3, 4].map((seed) => column(rows, seed));
  const target = columns[0].map((value, i) => value + 1.5 * column(rows, 9)[i]);
  const { weights } = await fit(columns, target);
  const errorOf = (penalty: number) => {
    let sum = 0;
    for (let out = 0; out < rows; out++) {
      const fitted = penalised(columns, target, penalty, out);
      const guess = fitted.intercept + columns.reduce((at, own, j) => at + own[out] * fitted.weights[j], 0);
      sum += (target[out] - guess) ** 2;
    }
    return sum;
  };
  const penalties = [1e-4, 1e-2, 1e-1, 1, 10].map((factor) => factor * rows);
  const best = penalties.toSorted((a, b) => errorOf(a) - errorOf(b))[0];
  const expected = penalised(columns, target, best, -1).weights;
  for (const [j, weight] of weights.entries()) {
    assert.ok(Math.abs(weight - expected[j]) < 1e-9, `${weight} is not ${expected[j]}`);
  }
});

test('more columns than rows, and collinear columns, give finite weights', async () => {
  const columns = Array.from({ length: 30 }, (_, seed) => column(12, seed % 5));
  const { weights } = await fit(columns, column(12, 3));
  assert.ok(weights.every(Number.isFinite));
});

/** Ridge with an unpenalised intercept, by elimination, without the row `out`. */
function penalised(columns: readonly Float64Array[], target: Float64Array, penalty: number, out: number) {
  const rows = [...target.keys()].filter((row) => row !== out);
  const size = columns.length + 1;
  const at = (row: number, j: number) => (j === 0 ? 1 : columns[j - 1][row]);
  const system = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) => {
      return rows.reduce((sum, row) => sum + at(row, i) * at(row, j), 0) + (i === j && i > 0 ? penalty : 0);
    }),
    rows.reduce((sum, row) => sum + at(row, i) * target[row], 0),
  ]);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      if (k === i) continue;
      const factor = system[k][i] / system[i][i];
      for (let j = i; j <= size; j++) system[k][j] -= factor * system[i][j];
    }
  }
  const solved = system.map((row, i) => row[size] / row[i]);
  return { intercept: solved[0], weights: solved.slice(1) };
}

test('a fit yields to the event loop between its steps', async () => {
  let turns = 0;
  const pause = async () => {
    turns++;
  };
  await fit([column(50, 1), column(50, 2)], column(50, 3), pause);
  assert.ok(turns > 5);
});
