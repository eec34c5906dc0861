import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fitExogenous, sumContributions } from '../../../../src/forecasting/exogenous/exogenous-fit.ts';

const SETTINGS = { season: 24, pause: nextTurn };
const numeric = (values: number[]) => ({ values, categorical: false });
const categories = (values: number[]) => ({ values, categorical: true });

const load = Array.from({ length: 200 }, (_, i) => (i * 37) % 11);
const [MONDAY, TUESDAY, WEDNESDAY, SUNDAY] = [0, 1, 2, 6];
const weekday = Array.from({ length: 200 }, (_, i) => [MONDAY, TUESDAY, WEDNESDAY][i % 3]);
const lift = [0, 4, -4];
const target = load.map((value, i) => 100 + 2 * value + lift[weekday[i]]);

test('effects of numeric and categorical variables are estimated, with contributions of mean 0', async () => {
  const variables = [numeric(load), categories(weekday), numeric(load.map(() => 7))];
  const fit = await fitExogenous(variables, target, { ...SETTINGS, end: 200 });
  const contributions = fit.contributions(variables, 0, 200);
  const total = sumContributions(contributions, 200);
  const mean = target.reduce((sum, value) => sum + value, 0) / 200;
  for (const [i, value] of total.entries()) assert.ok(Math.abs(value - (target[i] - mean)) < 0.05, `${i}`);
  for (const own of contributions) assert.ok(Math.abs(own.reduce((sum, value) => sum + value, 0)) < 1e-6);
  const [first, second, third] = fit.weights;
  assert.ok(first > second && second > 0 && third === 0);
  assert.ok(Math.abs(first + second + third - 1) < 1e-9);
});

test('unknown variables, unknown categories and missing values contribute 0', async () => {
  const fit = await fitExogenous([numeric(load), categories(weekday)], target, { ...SETTINGS, end: 200 });
  const [own, other] = fit.contributions([null, categories([TUESDAY, SUNDAY, Number.NaN])], 0, 3);
  assert.deepEqual([...own], [0, 0, 0]);
  assert.ok(Math.abs(other[0] - 4) < 0.1);
  assert.ok(other[1] === 0 && other[2] === 0);
  const rare = categories(load.map((value) => Number(value === 0)));
  const raised = load.map((value, i) => 100 + 5 * Number(value === 0) + Math.sin(i * i));
  const uneven = await fitExogenous([rare], raised, { ...SETTINGS, end: 200 });
  assert.equal(uneven.contributions([categories([2])], 0, 1)[0][0], 0, 'whatever the shares of the others');
  const [gap] = fit.contributions([numeric([Number.NaN]), null], 0, 1);
  assert.equal(gap[0], 0);
});

test('rows from the end on, and rows without a target, are no training data', async () => {
  const later = target.map((value, i) => (i >= 150 ? -1e6 * load[i] : i % 4 === 0 ? Number.NaN : value));
  const fit = await fitExogenous([numeric(load)], later, { ...SETTINGS, end: 150 });
  const cut = await fitExogenous([numeric(load.slice(0, 150))], later.slice(0, 150), { ...SETTINGS, end: 150 });
  const [whole] = fit.contributions([numeric(load)], 150, 50);
  assert.deepEqual(whole, cut.contributions([numeric(load)], 150, 50)[0]);
});

/** Repeatable noise. */
const noise = (seed: number) => {
  return Float64Array.from({ length: 480 }, (_, t) => 2 * ((((seed + t) * 0.754_877_666) ** 2 * 1e3) % 1) - 1);
};
const walk = (seed: number) => {
  let level = 0;
  return noise(seed).map((step) => (level += step));
};
const day = (phase: number) =>
  Float64Array.from({ length: 480 }, (_, t) => 5 * Math.sin((2 * Math.PI * t) / 24 + phase));
const sum = (a: Float64Array, b: Float64Array) => a.map((value, t) => value + b[t]);
/** Contribution of one unit of the variable. */
async function slopeOf(variable: Float64Array, values: Float64Array, season: number | null = 24): Promise<number> {
  const fit = await fitExogenous([numeric([...variable])], values, { ...SETTINGS, end: values.length, season });
  const [added] = fit.contributions([numeric([0, 1])], 0, 2);
  return added[1] - added[0];
}

test('the season of a series is not attributed to a seasonal variable, and its own effect is estimated', async () => {
  const variable = sum(day(1), noise(1));
  assert.ok(Math.abs(await slopeOf(variable, sum(day(2), noise(500)))) < 0.1);
  assert.ok(Math.abs((await slopeOf(variable, sum(sum(day(2), noise(500)), variable))) - 1) < 0.1);
  // Without Fourier terms the two seasons correlate.
  assert.ok(Math.abs(await slopeOf(variable, sum(day(2), noise(500)), 1)) > 0.3);
});

test('an unrelated random walk has no effect on another, and a true effect is found on random walks and by them', async () => {
  for (const seed of [1, 1_000, 2_000]) {
    const [own, other, white] = [walk(seed), walk(seed + 500), noise(seed + 500)];
    assert.ok(Math.abs(await slopeOf(other, own)) < 0.15, `${seed}`);
    assert.ok(Math.abs((await slopeOf(white, sum(own, white))) - 1) < 0.15, `${seed}`);
    assert.ok(Math.abs((await slopeOf(other, sum(other, noise(seed)))) - 1) < 0.05, `${seed}`);
  }
});

test('a variable that the season explains has a twentieth of what both explain', async () => {
  const hour = Array.from({ length: 480 }, (_, t) => t % 2);
  const values = Float64Array.from(hour, (value) => 3 * value);
  const alternating = await fitExogenous([categories(hour)], values, { ...SETTINGS, end: 480, season: 2 });
  assert.deepEqual([...alternating.weights], [1]);
  const [added] = alternating.contributions([categories([0, 1])], 0, 2);
  assert.ok(Math.abs(added[1] - added[0] - 3 / 20) < 0.01, String(added));
  const terms = [0, Math.PI / 2].map(day);
  const slope = await slopeOf(terms[0], sum(terms[0], noise(3)));
  assert.ok(Math.abs(slope - 1 / 20) < 0.01, String(slope));
  assert.equal(await slopeOf(terms[0], noise(3)), 0);
});

test('short histories give finite contributions', async () => {
  for (const length of [0, 1, 2, 3, 10, 47]) {
    const fit = await fitExogenous([numeric([...walk(1)])], walk(2), { ...SETTINGS, end: length });
    assert.ok(fit.contributions([numeric([...walk(1)])], 0, 480)[0].every(Number.isFinite), `${length}`);
  }
});
