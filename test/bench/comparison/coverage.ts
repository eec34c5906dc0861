/** Published ways to keep a target rate, over our own residuals: the share of rows outside against 1 in 100. */
import { scoreHistory } from '../../../src/engine/commit/score-history.ts';
import type { Figures } from '../bench.ts';
import { percentile } from '../detection/event-segments.ts';
import { boundTo, defaultDetector, observationsOf, withModel } from '../detection/product.ts';
import { printTable, rounded } from '../table.ts';
import { RandomNumbers } from '../weeks/random-numbers.ts';
import type { Case, CaseSet } from './cases.ts';

const TARGET = 0.01;
/** The first residuals of a series calibrate: so many, and at least this share. */
const CALIBRATION_MIN = 200;
const CALIBRATION_SHARE = 0.25;
const WINDOW = 1_000;
const TOGETHER_MAX = 20;

/** Residuals of the forecasted rows of a series, whether each was outside our interval, and the row. */
interface Residuals {
  readonly distances: readonly number[];
  readonly outside: readonly boolean[];
  readonly rows: readonly number[];
}

/** Whether each distance is beyond its threshold, which is made of those before it. */
type Keeper = (distances: readonly number[], calibration: number) => boolean[];

const KEEPERS: Readonly<Record<string, Keeper>> = {
  split_conformal: splitConformal,
  adaptive_conformal: adaptiveConformal,
  weighted_conformal: weightedConformal,
};

export async function coverageFigures(sets: readonly CaseSet[]): Promise<Figures> {
  const quiet = sets.find(({ key }) => key === 'quiet');
  const drifting = quiet && {
    key: 'drift',
    title: 'five quiet weeks, noise that grows',
    cases: quiet.cases.map(louder),
  };
  const figures: Record<string, Figures> = {};
  for (const set of [sets.find(({ key }) => key === 'nab'), quiet, drifting]) {
    if (set === undefined) continue;
    const residuals = await residualsOf(set.cases);
    const ways: Readonly<Record<string, (one: Residuals, calibration: number) => readonly boolean[]>> = {
      tidewatch: ({ outside }) => outside,
      ...Object.fromEntries(
        Object.entries(KEEPERS).map(([name, keep]) => [name, (one, calibration) => keep(one.distances, calibration)]),
      ),
    };
    const rows = Object.entries(ways).map(([name, outsideOf]) => {
      const ratios: number[] = [];
      let [found, windows] = [0, 0];
      residuals.forEach((one, i) => {
        const calibration = Math.max(CALIBRATION_MIN, Math.ceil(CALIBRATION_SHARE * one.distances.length));
        if (one.distances.length < 2 * calibration) return;
        const outside = outsideOf(one, calibration).slice(calibration);
        const ofRow = new Map(one.rows.slice(calibration).map((row, k) => [row, outside[k]]));
        const { labels } = set.cases[i];
        const ordinary = [...ofRow].filter(([row]) => labels[row] === 0);
        ratios.push(ordinary.filter(([, isOutside]) => isOutside).length / ordinary.length / TARGET);
        const incident = [...ofRow].filter(([row]) => labels[row] === 1);
        windows += incident.length;
        found += incident.filter(([, isOutside]) => isOutside).length;
      });
      const [low, middle, high] = [10, 50, 90].map((percent) => percentile(ratios, percent));
      return { name, low, middle, high, flagged: windows === 0 ? Number.NaN : found / windows, count: ratios.length };
    });
    printTable(
      `${set.title}: rows outside against the target of 1 in 100, by series`,
      ['way', 'series', 'p10', 'median', 'p90', 'labelled rows outside'],
      rows.map(({ name, count, low, middle, high, flagged }) => [name, count, low, middle, high, flagged]),
    );
    figures[set.key] = Object.fromEntries(
      rows.map(({ name, low, middle, high, flagged }) => [name, [low, middle, high, flagged].map(rounded)]),
    );
  }
  return figures;
}

/** The noise doubles from the middle on. */
function louder(one: Case): Case {
  const random = new RandomNumbers(4_242);
  const [values] = one.channels;
  const half = values.length / 2;
  const added = (row: number) => Math.min(1, Math.max(0, (row - half) / (half / 4))) * 0.04 * random.normal();
  return { ...one, name: `${one.name}-louder`, channels: [values.map((value, row) => value * (1 + added(row)))] };
}

function residualsOf(cases: readonly Case[]): Promise<Residuals[]> {
  return withModel(async (forecasters, model) => {
    const all: Residuals[] = [];
    for (let start = 0; start < cases.length; start += TOGETHER_MAX) {
      const together = cases.slice(start, start + TOGETHER_MAX);
      all.push(
        ...(await Promise.all(
          together.map((one) => residuals(one, boundTo(defaultDetector(one), forecasters, model))),
        )),
      );
    }
    return all;
  });
}

async function residuals(one: Case, bound: ReturnType<typeof boundTo>): Promise<Residuals> {
  const [distances, outside, rows]: [number[], boolean[], number[]] = [[], [], []];
  const rowOf = new Map(Array.from(one.times, (ms, row) => [ms, row]));
  const options = {
    source: one.name,
    detectors: [bound],
    group: null,
    onScores(
      scores: readonly {
        value: number;
        forecast: number | null;
        lo: number | null;
        hi: number | null;
        timestampMs: number;
      }[],
    ) {
      for (const { value, forecast, lo, hi, timestampMs } of scores) {
        if (forecast === null || Number.isNaN(forecast) || lo === null || hi === null || Number.isNaN(lo)) continue;
        distances.push(Math.abs(value - forecast));
        outside.push(value < lo || value > hi);
        rows.push(rowOf.get(timestampMs)!);
      }
    },
  };
  await scoreHistory(
    observationsOf(one).filter(({ value }) => Number.isFinite(value)),
    options,
    new AbortController().signal,
  );
  return { distances, outside, rows };
}

/** Rank of a split-conformal threshold (Vovk et al. 2005): ceil((n + 1)(1 - miss)), 1 for the smallest. */
function conformalQuantile(sorted: readonly number[], miss: number): number {
  const rank = Math.ceil((sorted.length + 1) * (1 - miss));
  if (rank > sorted.length) return Number.POSITIVE_INFINITY;
  return rank < 1 ? Number.NEGATIVE_INFINITY : sorted[rank - 1];
}

/** One threshold, of the calibration part. */
function splitConformal(distances: readonly number[], calibration: number): boolean[] {
  const threshold = conformalQuantile(
    distances.slice(0, calibration).toSorted((a, b) => a - b),
    TARGET,
  );
  return distances.map((distance) => distance > threshold);
}

const STEPS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128];

/** Adaptive conformal inference with experts of several steps (Gibbs and Candès 2024, DtACI), over the last rows. */
function adaptiveConformal(distances: readonly number[], calibration: number): boolean[] {
  const sorted: number[] = [];
  const alphas = STEPS.map(() => TARGET);
  let weights = STEPS.map(() => 1 / STEPS.length);
  const interval = 500;
  const sigma = 1 / (2 * interval);
  const eta = Math.sqrt((3 / interval) * ((Math.log(STEPS.length * interval) + 2) / ((1 - TARGET) ** 2 * TARGET ** 2)));
  return distances.map((distance, row) => {
    let isOutside = false;
    if (row >= calibration) {
      const alpha = alphas.reduce((sum, each, i) => sum + weights[i] * each, 0);
      isOutside = distance > conformalQuantile(sorted, alpha);
      // The largest miss rate at which the row would have been inside.
      const rank = sorted.length - position(sorted, distance);
      const beta = rank / (sorted.length + 1);
      const losses = alphas.map((each) => TARGET * (beta - each) - Math.min(0, beta - each));
      const grown = weights.map((weight, i) => weight * Math.exp(-eta * losses[i]));
      const total = grown.reduce((sum, weight) => sum + weight, 0);
      weights = grown.map((weight) => (1 - sigma) * (weight / total) + sigma / STEPS.length);
      STEPS.forEach((step, i) => {
        alphas[i] += step * (TARGET - Number(distance > conformalQuantile(sorted, alphas[i])));
      });
    }
    sorted.splice(position(sorted, distance), 0, distance);
    if (row >= WINDOW) sorted.splice(position(sorted, distances[row - WINDOW]), 1);
    return isOutside;
  });
}

const DECAY = 0.995;

/** Weights that fall with age (Barber et al. 2023, non-exchangeable conformal). */
function weightedConformal(distances: readonly number[], calibration: number): boolean[] {
  return distances.map((distance, row) => {
    if (row < calibration) return false;
    let [above, total] = [1, 1];
    for (let age = 1; age <= Math.min(row, WINDOW); age++) {
      const weight = DECAY ** age;
      total += weight;
      if (distances[row - age] >= distance) above += weight;
    }
    return above / total <= TARGET;
  });
}

/** First place in an ascending list whose value is at least this one. */
function position(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
