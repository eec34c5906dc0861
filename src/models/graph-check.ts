import type { RunForecasts, RunRequest } from './inference-thread.ts';
import { type ModelManifest, ROWS_UNIT } from './manifest.ts';

/** An input or output of a graph, as described by the runtime. */
interface GraphPort {
  readonly name: string;
  /** Element type; absent if it is no tensor. */
  readonly type?: string;
}

/** Differences between the manifest and the inputs and outputs of the graph, one sentence each. */
export function portProblems(
  { inputs, output }: Pick<ModelManifest, 'inputs' | 'output'>,
  graph: { readonly inputs: readonly GraphPort[]; readonly outputs: readonly GraphPort[] },
): string[] {
  const named = Object.entries(inputs).map(([key, name]) => [`inputs.${key}`, name, graph.inputs, 'takes'] as const);
  const problems = [...named, ['output', output, graph.outputs, 'gives'] as const].flatMap(
    ([key, name, ports, verb]) => {
      const port = ports.find((each) => each.name === name);
      if (port === undefined) {
        return [`${key} is ${JSON.stringify(name)}, which the graph does not have: it ${verb} ${namesOf(ports)}`];
      }
      return port.type === 'float32'
        ? []
        : [`${key} must be float32, but the graph ${verb} ${port.type ?? 'no tensor'}`];
    },
  );
  const known = Object.values(inputs);
  const unnamed = graph.inputs.filter(({ name }) => !known.includes(name));
  return unnamed.length === 0
    ? problems
    : [...problems, `inputs does not name all that the graph takes: ${namesOf(unnamed)}`];
}

function namesOf(ports: readonly GraphPort[]): string {
  return ports.map(({ name }) => JSON.stringify(name)).join(', ') || 'nothing';
}

/** Input of a test run: contexts of one length, forecast with every quantile. */
export type TestRun = Pick<RunRequest, 'rows' | 'contextLength' | 'horizon' | 'values'>;

/** A series as a function of the position before the cutoff. */
type TestSeries = readonly [name: string, valueAt: (position: number) => number];

const wave = (position: number) => 10 + 3 * Math.sin(position / 3) + Math.sin(position * position);
const WAVE: TestSeries = ['a wave', wave];
const SERIES: readonly TestSeries[] = [
  WAVE,
  ['a wave with missing values', (position) => (position % 3 === 0 ? Number.NaN : wave(position))],
  ['a constant', () => 5],
  ['a series without observations', () => Number.NaN],
];
const OTHER_SERIES: readonly TestSeries[] = [
  WAVE,
  ['a larger wave', (position) => 50 * wave(position + 7)],
  ['zeros', () => 0],
  ['one observation', (position) => (position === -1 ? -3 : Number.NaN)],
];

/**
 * Runs a model at every context length and at its shortest and longest horizon. Returns the violated requirements: the
 * graph runs, forecasts are finite, quantiles ascend, a row's forecast does not depend on the other rows, and the
 * medians alone, in the smallest runs, are those among the quantiles, bit for bit.
 * @param run makes forecasts; rejects where the graph fails or the output has a wrong shape
 */
export async function testRunProblems(
  { patch, contextBuckets, horizonMax, quantiles, median }: ModelManifest,
  run: (test: TestRun, quantiles: 'all' | 'median') => Promise<Pick<RunForecasts, 'forecasts' | 'badRows'>>,
): Promise<string[]> {
  const shapes = contextBuckets.map((contextLength) => ({ contextLength, horizon: patch }));
  shapes.push({ contextLength: contextBuckets.at(-1)!, horizon: horizonMax });
  for (const { contextLength, horizon } of shapes) {
    const where = `at context ${contextLength} and horizon ${horizon}`;
    const forecast = (series: readonly TestSeries[], levels: 'all' | 'median' = 'all') => {
      return run({ rows: series.length, contextLength, horizon, values: contextsOf(series, contextLength) }, levels);
    };
    try {
      const { forecasts, badRows } = await forecast(SERIES);
      const length = forecasts.length / SERIES.length;
      const problems = badRows.map(
        ({ row }) => `forecasts ${SERIES[row][0]} with numbers that are not finite ${where}`,
      );
      if (problems.length === 0)
        problems.push(
          ...crossings(forecasts, quantiles).map((text) => `forecasts quantiles that cross (${text}) ${where}`),
        );
      const others = await forecast(OTHER_SERIES);
      const same = forecasts.subarray(0, length).every((value, i) => Object.is(value, others.forecasts[i]));
      if (problems.length === 0 && !same) {
        problems.push(`forecasts a series differently from run to run, or with other series, ${where}`);
      }
      const middle = quantiles.indexOf(0.5);
      let equal = true;
      for (let row = 0, unit = median?.rowsUnit ?? ROWS_UNIT; row < SERIES.length; row += unit) {
        const { forecasts: medians } = await forecast(SERIES.slice(row, row + unit), 'median');
        const at = row * horizon;
        equal &&= medians.every((value, i) => Object.is(value, forecasts[(at + i) * quantiles.length + middle]));
      }
      if (problems.length === 0 && !equal)
        problems.push(`forecasts medians alone that differ from its quantiles ${where}`);
      // A problem at one shape repeats at the next ones.
      if (problems.length > 0) return problems.map((problem) => `the graph ${problem}`);
    } catch (error) {
      return [`the graph fails ${where}: ${(error as Error).message}`];
    }
  }
  return [];
}

function contextsOf(series: readonly TestSeries[], contextLength: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: series.length * contextLength }, (_, i) => {
    return series[Math.floor(i / contextLength)][1]((i % contextLength) - contextLength);
  });
}

/** The first crossing of each row: a quantile below that of the next lower level. */
function crossings(forecasts: Float32Array, levels: readonly number[]): string[] {
  const length = forecasts.length / SERIES.length;
  return SERIES.flatMap(([name], row) => {
    const ofRow = forecasts.subarray(row * length, (row + 1) * length);
    const at = ofRow.findIndex((value, i) => i % levels.length > 0 && value < ofRow[i - 1]);
    if (at < 0) return [];
    const level = at % levels.length;
    const [below, above] = [ofRow[at - 1], ofRow[at]].map((value) => value.toPrecision(4));
    const found = `${levels[level]} is ${above}, below the ${below} of ${levels[level - 1]}`;
    return [`quantiles must ascend: of ${name} ${found}`];
  });
}
