/** Forecasts a second and core, by context, horizon and batch size, and their cost on the main thread. */
import type { ForecastBatch } from '../../src/forecast/forecaster.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters, type ModelForecaster } from '../../src/model/onnx-forecaster.ts';
import type { Figures } from './bench.ts';
import { printTable, rounded } from './table.ts';

const BATCHES = [1, 8, 32, 128];
const HORIZONS = [24, 96];
/** The combination of the summary figure. */
const USUAL = { contextLength: 512, horizon: 24, batch: 32 };
const MEASURE_MS = 400;

interface Speed {
  readonly perSecond: number;
  /** By CPU time of the whole process: inference thread and main thread. */
  readonly perSecondCore: number;
  readonly msPerBatch: number;
  readonly mainUsPerForecast: number;
}

/** @param args name of the model, by default `tsmodel-1`; folder of further models, by default none */
export async function run(args: readonly string[]): Promise<Figures> {
  const model = (await openCatalog({ modelsDir: args[1] ?? null })).get(args[0] ?? 'tsmodel-1');
  const forecasters = await Forecasters.start([model], { threads: 1 });
  const rows: (string | number)[][] = [];
  const combinations: Figures[] = [];
  let usual = Number.NaN;
  try {
    const forecaster = forecasters.forecasterFor(model.name, 1);
    const { contextBuckets, horizonMax } = forecaster.limits;
    for (const contextLength of contextBuckets) {
      for (const horizon of HORIZONS.filter((each) => each <= horizonMax)) {
        for (const batch of BATCHES) {
          const speed = await measure(forecaster, randomWalks(batch, contextLength, horizon));
          const { perSecond, perSecondCore, msPerBatch, mainUsPerForecast } = speed;
          rows.push([contextLength, horizon, batch, perSecond, perSecondCore, msPerBatch, mainUsPerForecast]);
          combinations.push({
            context: contextLength,
            horizon,
            batch,
            forecasts_per_s: rounded(perSecond),
            forecasts_per_s_core: rounded(perSecondCore),
            main_us: rounded(mainUsPerForecast),
          });
          const isUsual = contextLength === USUAL.contextLength && horizon === USUAL.horizon && batch === USUAL.batch;
          if (isUsual) usual = perSecondCore;
        }
      }
    }
  } finally {
    await forecasters.close();
  }
  const columns = [
    'context',
    'horizon',
    'batch',
    'forecasts/s',
    'forecasts/s core',
    'ms a batch',
    'main us a forecast',
  ];
  printTable(`model ${model.name}, one inference thread`, columns, rows);
  return { model: model.name, forecasts_per_s_core: Number.isNaN(usual) ? null : rounded(usual), combinations };
}

/** One batch at a time, for MEASURE_MS. */
async function measure(forecaster: ModelForecaster, batch: ForecastBatch): Promise<Speed> {
  for (let i = 0; i < 3; i++) await forecaster.forecast(batch);
  const clockBefore = performance.now();
  const cpuBefore = process.cpuUsage();
  const mainBefore = process.threadCpuUsage();
  let forecasts = 0;
  while (performance.now() - clockBefore < MEASURE_MS) {
    await forecaster.forecast(batch);
    forecasts += batch.rows;
  }
  const main = process.threadCpuUsage(mainBefore);
  const cpu = process.cpuUsage(cpuBefore);
  const ms = performance.now() - clockBefore;
  return {
    perSecond: (forecasts / ms) * 1000,
    perSecondCore: (forecasts / (cpu.user + cpu.system)) * 1e6,
    msPerBatch: (ms / forecasts) * batch.rows,
    mainUsPerForecast: (main.user + main.system) / forecasts,
  };
}

/** Reproducible random walks; a twentieth of the observations is missing. */
function randomWalks(rows: number, contextLength: number, horizon: number): ForecastBatch {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  let level = 0;
  const values = Float32Array.from({ length: rows * contextLength }, () => {
    level += random() - 0.5;
    return random() < 0.05 ? Number.NaN : level;
  });
  return { rows, contextLength, horizon, values };
}
