/**
 * Speed of fine-tuning over HTTP, and its effect on forecasts of series that no model was trained on.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { rollOut } from '../../src/forecast/autoregressive-roll-out.ts';
import { forecastCalibrated } from '../../src/forecast/calibrated-forecasts.ts';
import { type Model, openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/onnx-forecaster.ts';
import { shareWeights, type TunedWeights } from '../../src/model/tuned-weights.ts';
import type { Tuned } from '../../src/model/tuning/tune.ts';
import { Tuner } from '../../src/model/tuning/tuner.ts';
import type { Figures } from './bench.ts';
import { API_KEY, startSidecar } from './sidecar-process.ts';
import { printTable, rounded } from './table.ts';

const SPEED = { series: 20, length: 500, steps: 50 };
const QUALITY = { steps: 30, depth: 5, loss: 'default' } as const;
const M4_HORIZON = 48;
/** Contexts of forecasts and of detection at hourly frequency. */
const CONTEXTS = [336, 512];
const NAB_HORIZON = 24;
/** Share of a series that is training data. */
const TRAINING_SHARE = 0.8;
/** Cutoffs in the rest of it. */
const CUTOFFS = 40;
const MUCH_WORSE = 1.05;
type Kind = 'M4 hourly' | 'NAB' | 'M4 hourly, competition';
/**
 * Of the tasks of the competition every so many are tried: each is one forecast of two days, which says little of a
 * series.
 */
const COMPETITION_EVERY = 4;
/** Kinds of tasks that are reported together, and the key of their figures. */
const COLLECTIONS: readonly { readonly kinds: readonly Kind[]; readonly key?: string }[] = [
  { kinds: ['M4 hourly', 'NAB'], key: 'tuned' },
  { kinds: ['M4 hourly'], key: 'tuned_m4_hourly' },
  { kinds: ['NAB'], key: 'tuned_nab' },
  { kinds: ['M4 hourly, competition'], key: 'tuned_competition' },
];

/** A series: a model is tuned to its beginning and evaluated at several cutoffs of its end. */
interface Task {
  readonly name: string;
  /** Series of one source, to which one model may be tuned. */
  readonly collection: string;
  readonly kind: Kind;
  readonly values: Float64Array;
  /** Values of the training part. */
  readonly trained: number;
  readonly cutoffs: readonly number[];
  readonly horizon: number;
}

/**
 * @param args tune every n-th series of M4 and NAB, by default 1: all of them (an hour and a quarter on two cores); the
 *   folder with m4/ and nab/; the model to tune
 */
export async function run([
  every = '1',
  data = '../shared/data',
  name = 'tsmodel-1',
]: readonly string[]): Promise<Figures> {
  const figures = await speed();
  const folder = resolve(data);
  if (!existsSync(join(folder, 'm4')) || !existsSync(join(folder, 'nab'))) {
    console.log(`${folder} has no m4/ and nab/: the error after tuning was not measured`);
    return figures;
  }
  const kinds = Map.groupBy([...m4Tasks(folder), ...nabTasks(folder)], ({ kind }) => kind);
  const tasks = Array.from(kinds, ([kind, own]) => {
    const step = Number(every) * (kind === 'M4 hourly, competition' ? COMPETITION_EVERY : 1);
    return own.filter((_, i) => i % step === 0);
  }).flat();
  const model = (await openCatalog({ modelsDir: null })).get(name);
  return { ...figures, ...(await tunedTogether(model, tasks)), ...(await tunedAlone(model, tasks)) };
}

async function speed(): Promise<Figures> {
  const { series, length, steps } = SPEED;
  const sidecar = await startSidecar();
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, sidecar.url), { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  const y = Array.from({ length: series * length }, (_, i) => Math.sin(i / (3 + (i % 7))) + Math.sin(i / 17));
  const history = { y, sizes: Array(series).fill(length) };
  const startedMs = performance.now();
  await post('/v2/finetune', { series: history, freq: 'h', finetune_steps: steps, output_model_id: 'bench' });
  await post('/v2/forecast', { series: history, freq: 'h', h: 1, finetuned_model_id: 'bench' });
  const seconds = (performance.now() - startedMs) / 1_000;
  await sidecar.stop();
  const shown = `${series} series x ${length} values x ${steps} steps`;
  printTable(
    'POST /v2/finetune',
    ['request', 'until the id forecasts, s', 'steps/s'],
    [[shown, seconds, steps / seconds]],
  );
  return { finetune_seconds: rounded(seconds), finetune_steps_per_s: rounded(steps / seconds) };
}

const HEAD = ['series', 'MAE to zero-shot, mean', 'geometric mean', `share above ${MUCH_WORSE}`];

/** One model for all series of a collection. */
async function tunedTogether(model: Model, tasks: readonly Task[]): Promise<Figures> {
  const forecasters = await Forecasters.start([model], { threads: availableParallelism() });
  const tuner = new Tuner([model], { answerMsMax: Number.POSITIVE_INFINITY });
  const collections = Map.groupBy(
    tasks.filter(({ kind }) => kind !== 'M4 hourly, competition'),
    ({ collection }) => collection,
  );
  const rows: { readonly name: string; readonly ratios: readonly number[] }[] = [];
  for (const [name, own] of collections) {
    const weights = shareWeights((await tuned(tuner, model, own)).theta);
    const ratios: number[] = [];
    for (const task of own) ratios.push(await ratioOf(task, weights, model, forecasters));
    rows.push({ name, ratios });
  }
  await Promise.all([tuner.close(), forecasters.close()]);
  rows.push({ name: 'all', ratios: rows.flatMap(({ ratios }) => ratios) });
  printTable(
    'Forecasts with weights tuned to all series of a collection together',
    ['collection', ...HEAD],
    rows.map(({ name, ratios }) => [name, ...summaryOf(ratios)]),
  );
  return figuresOf('together', rows.at(-1)!.ratios);
}

/** One model for each task, on one tuner per core; reported in the order of the tasks. */
async function tunedAlone(model: Model, tasks: readonly Task[]): Promise<Figures> {
  const forecasters = await Forecasters.start([model], { threads: 1 });
  const tuners = Array.from({ length: availableParallelism() }, () => new Tuner([model]));
  const ratios: number[] = [];
  const lines: string[] = [];
  let [taken, reported] = [0, 0];
  const work = async (tuner: Tuner) => {
    for (let i = taken++; i < tasks.length; i = taken++) {
      const { theta, step, coefficient } = await tuned(tuner, model, [tasks[i]]);
      ratios[i] = await ratioOf(tasks[i], shareWeights(theta), model, forecasters);
      const { kind, name } = tasks[i];
      lines[i] =
        `${kind} ${name}: ${rounded(ratios[i])} of the error, interpolation coefficient ${coefficient}, step ${step}`;
      while (lines[reported] !== undefined) console.log(lines[reported++]);
    }
  };
  await Promise.all(tuners.map(work));
  await Promise.all([...tuners, forecasters].map((each) => each.close()));
  const rows = COLLECTIONS.map(({ kinds, key }) => {
    return { name: kinds.join(' and '), key, own: ratios.filter((_, i) => kinds.includes(tasks[i].kind)) };
  });
  printTable(
    'Forecasts with weights tuned to each series alone',
    ['collection', ...HEAD],
    rows.map(({ name, own }) => [name, ...summaryOf(own)]),
  );
  return Object.assign({}, ...rows.map(({ key, own }) => (key === undefined ? {} : figuresOf(key, own))));
}

function figuresOf(key: string, ratios: readonly number[]): Figures {
  const names = ['series', 'mae_ratio', 'mae_ratio_geometric', 'much_worse'];
  const summary = summaryOf(ratios);
  return Object.fromEntries(names.map((name, i) => [`${key}_${name}`, rounded(summary[i])]));
}

/** Count, mean, geometric mean, and the share above MUCH_WORSE. */
function summaryOf(ratios: readonly number[]): [number, number, number, number] {
  const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const worse = ratios.filter((ratio) => ratio > MUCH_WORSE).length;
  return [ratios.length, meanOf(ratios), Math.exp(meanOf(ratios.map(Math.log))), worse / ratios.length];
}

/** Weights tuned to the training parts of tasks of one horizon. */
async function tuned(tuner: Tuner, { name }: Model, tasks: readonly Task[]): Promise<Tuned> {
  const series = tasks.map(({ values, trained }) => values.subarray(0, trained));
  const request = { series, horizon: tasks[0].horizon, contexts: CONTEXTS, ...QUALITY };
  const outcome = await tuner.tune({ model: name, base: null, request, signal: new AbortController().signal });
  if (outcome.kind !== 'tuned') throw new Error(`${tasks[0].name}: ${outcome.kind}`);
  return outcome.tuned;
}

/** Error with tuned weights, relative to that with the model's own. */
async function ratioOf(task: Task, weights: TunedWeights, { name }: Model, forecasters: Forecasters): Promise<number> {
  const maeOf = async (own: TunedWeights | null) => {
    const points = task.cutoffs.map((cutoff) => ({ values: task.values, cutoff }));
    const settings = { h: task.horizon, context: CONTEXTS[0], probabilities: [] };
    const forecasts = await forecastCalibrated(points, settings, {
      forecaster: rollOut(forecasters.forecasterFor(name, 1, own)),
    });
    const errors = forecasts.flatMap(({ mean }, i) =>
      [...mean].map((value, k) => Math.abs(value - task.values[task.cutoffs[i] + k])),
    );
    return errors.reduce((sum, error) => sum + error, 0) / errors.length;
  };
  const [before, after] = [await maeOf(null), await maeOf(weights)];
  return before === 0 ? 1 : after / before;
}

/** The last fifth of each series, from many cutoffs, and the two days of the competition. */
function m4Tasks(folder: string): Task[] {
  const rows = (part: string) => {
    const lines = readFileSync(join(folder, 'm4', `Hourly-${part}.csv`), 'utf8')
      .trim()
      .split('\n')
      .slice(1);
    return lines.map((line) => line.replaceAll('"', '').split(',').slice(1).filter(Boolean).map(Number));
  };
  const test = rows('test');
  return rows('train').flatMap((history, i) => {
    const values = Float64Array.from([...history, ...test[i]]);
    const trained = history.length;
    const name = `H${i + 1}`;
    const competition: Task = {
      name,
      collection: 'M4 hourly',
      kind: 'M4 hourly, competition',
      values,
      trained,
      cutoffs: [trained],
      horizon: M4_HORIZON,
    };
    return [taskOf({ name, collection: 'M4 hourly', kind: 'M4 hourly', values, horizon: M4_HORIZON }), competition];
  });
}

function nabTasks(folder: string): Task[] {
  const root = join(folder, 'nab');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.csv'));
  return files.sort().flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').trim().split('\n').slice(1);
    const values = Float64Array.from(lines, (line) => Number(line.split(',')[1]));
    if (values.every((value) => value === values[0])) return [];
    return [taskOf({ name: file, collection: dirname(file), kind: 'NAB', values, horizon: NAB_HORIZON })];
  });
}

function taskOf(task: Omit<Task, 'trained' | 'cutoffs'>): Task {
  const trained = Math.floor(task.values.length * TRAINING_SHARE);
  const room = task.values.length - task.horizon - trained;
  const cutoffs = Array.from({ length: CUTOFFS }, (_, i) => trained + Math.floor((i * room) / (CUTOFFS - 1)));
  return { ...task, trained, cutoffs };
}
