/** The detector that is measured, run as `backtest` runs it. Nothing else of this bench imports from `src`. */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type DetectorFlagValues,
  detectorFlags,
  detectorOfFlags,
} from '../../../src/app/commands/files/detector-flags.ts';
import { settingsDigest, type WrittenDetector } from '../../../src/config/config.ts';
import { DETECTOR_DEFAULTS } from '../../../src/config/keys/detector-keys.ts';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { completedBy } from '../../../src/config/resolve.ts';
import { byTime, type PastObservation, scoreHistory } from '../../../src/engine/commit/score-history.ts';
import { type LoadedDetector, loadedDetector } from '../../../src/engine/unit/loaded-detector.ts';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { inferFrequency } from '../../../src/time/infer-frequency.ts';
import type { SeriesInput } from './labelled-data.ts';

/** Where results that never change are kept from one run to the next. */
export const BENCH_CACHE = join(cacheFolder(), 'detection');

/** What the detector says of each row; NaN where it says nothing. */
export interface Verdicts {
  readonly severity: Float64Array;
  readonly grade: Float64Array;
  /** 1 where there is an alarm. */
  readonly alarm: Uint8Array;
  /** Revisions of events in the order they are made. */
  readonly events: readonly AnomalyEvent[];
}

/** Series whose histories are scored at the same time, so that their forecasts share runs of the model. */
const TOGETHER_MAX = 40;

/**
 * Scores series and groups with the defaults of `backtest`.
 * @param target false alarm episodes accepted in 1,000 rows; null: the target of the detector by default
 */
export async function judge(
  inputs: readonly SeriesInput[],
  target: number | null = null,
  detectorOf: DetectorOf = defaultDetector,
): Promise<readonly Verdicts[]> {
  return withModel(async (started, model) => {
    const forecasters = { forecasterFor: (name: string, h: number) => remembering(started.forecasterFor(name, h)) };
    const verdicts: Verdicts[] = [];
    for (let start = 0; start < inputs.length; start += TOGETHER_MAX) {
      const together = inputs.slice(start, start + TOGETHER_MAX);
      const loaded = together.map((input) => bind(input, { target, detectorOf }, forecasters, model));
      verdicts.push(...(await Promise.all(together.map((input, i) => judgeOne(input, loaded[i])))));
    }
    return verdicts;
  });
}

/**
 * Observations that a core scores in a second, all threads together, where a worker watches all series at once.
 * @param inputs single series of one frequency
 */
export function judgeSpeed(inputs: readonly SeriesInput[]): Promise<number> {
  return withModel(async (forecasters, model) => {
    const loaded = bind(inputs[0], { target: null, detectorOf: defaultDetector }, forecasters, model);
    const history = byTime(inputs.flatMap(observationsOf));
    const begun = process.cpuUsage();
    const plan = { source: 'fleet', detectors: [loaded], group: null, onScores: () => {} };
    await scoreHistory(history, plan, new AbortController().signal);
    const { user, system } = process.cpuUsage(begun);
    return history.length / ((user + system) / 1e6);
  });
}

export function observationsOf({ name, times, channels: [values] }: SeriesInput): PastObservation[] {
  return Array.from(times, (timestampMs, row) => ({ series: name, timestampMs, value: values[row] }));
}

type ModelSource = Pick<Forecasters, 'forecasterFor'>;
type ModelForecaster = ReturnType<Forecasters['forecasterFor']>;

/** Forecasts by their contexts: those of all target rates are equal, and nine tenths of the time. */
const forecasts = new Map<string, Float32Array>();

function remembering(forecaster: ModelForecaster): ModelForecaster {
  return {
    ...forecaster,
    async forecast(batch, signal) {
      const { rows, horizon, contextLength, values } = batch;
      const keys = Array.from({ length: rows }, (_, row) => {
        const context = values.slice(row * contextLength, (row + 1) * contextLength);
        return createHash('sha1').update(new Uint8Array(context.buffer)).digest('base64');
      });
      if (!keys.every((key) => forecasts.has(key))) {
        const medians = await forecaster.forecast(batch, signal);
        for (const [row, key] of keys.entries()) {
          forecasts.set(key, medians.slice(row * horizon, (row + 1) * horizon));
        }
      }
      const all = new Float32Array(rows * horizon);
      for (const [row, key] of keys.entries()) all.set(forecasts.get(key)!, row * horizon);
      return all;
    },
  };
}

export type Model = ReturnType<Awaited<ReturnType<typeof openCatalog>>['get']>;

/** Runs the default model on every core. */
export async function withModel<R>(work: (forecasters: Forecasters, model: Model) => Promise<R>): Promise<R> {
  const model = (await openCatalog({ modelsDir: null })).get(DETECTOR_DEFAULTS.model);
  const forecasters = await Forecasters.start([model], { threads: availableParallelism() });
  try {
    return await work(forecasters, model);
  } finally {
    await forecasters.close();
  }
}

type DetectorOf = (input: SeriesInput) => WrittenDetector;

interface JudgedBy {
  readonly target: number | null;
  readonly detectorOf: DetectorOf;
}

function bind(
  input: SeriesInput,
  { target, detectorOf }: JudgedBy,
  forecasters: ModelSource,
  model: Model,
): LoadedDetector {
  const detector = detectorOf(input);
  const alarmRate = target === null ? detector.settings.alarmRate : target / 1_000;
  return boundTo({ ...detector, settings: { ...detector.settings, alarmRate } }, forecasters, model);
}

/** What `backtest` makes of a file of this series, or group, without any flag. */
export function defaultDetector({ name, times, channels }: SeriesInput): WrittenDetector {
  const freq = inferFrequency([Array.from(times)]);
  if (freq === null) throw new Error(`${name} has no frequency`);
  const unset = Object.fromEntries(Object.keys(detectorFlags).map((flag) => [flag, undefined]));
  const flags = { ...unset, ...(channels.length > 1 && { thresholdMethod: 'multivariate' }) };
  const made = detectorOfFlags(flags as unknown as DetectorFlagValues, freq);
  if (made.kind === 'problems') throw new Error(made.problems.join('; '));
  return made.config;
}

export function boundTo(detector: WrittenDetector, forecasters: ModelSource, model: Model): LoadedDetector {
  const config = completedBy(model.manifest, detector);
  const forecaster = forecasters.forecasterFor(model.name, config.settings.h);
  return loadedDetector(config, { forecaster, digest: model.digest }, settingsDigest(config));
}

async function judgeOne(input: SeriesInput, loaded: LoadedDetector): Promise<Verdicts> {
  const { name, times, channels } = input;
  const rowOf = new Map<PastObservation, number>();
  for (let row = 0; row < times.length; row++) {
    channels.forEach((values, channel) => {
      const value = values[row];
      const series = channels.length === 1 ? name : `${name}/${channel}`;
      if (Number.isFinite(value)) rowOf.set({ series, timestampMs: times[row], value }, row);
    });
  }
  const history = [...rowOf.keys()];
  const rows = byTime(history).map((observation) => rowOf.get(observation)!);
  const events: AnomalyEvent[] = [];
  const verdicts = noVerdicts(times.length, events);
  const group = channels.length === 1 ? null : name;
  const onScores = (scores: readonly ScoreRecord[]) => {
    for (const score of scores) takeScore(verdicts, rows[score.input.offset], score);
  };
  const onEvent = (event: AnomalyEvent) => void events.push(event);
  const options = { source: name, detectors: [loaded], group, onScores, onEvent };
  await scoreHistory(history, options, new AbortController().signal);
  return verdicts;
}

export function noVerdicts(rows: number, events: readonly AnomalyEvent[] = []): Verdicts {
  const nothing = () => new Float64Array(rows).fill(Number.NaN);
  return { severity: nothing(), grade: nothing(), alarm: new Uint8Array(rows), events };
}

/** All members of a group have the same verdict. */
export function takeScore({ severity, grade, alarm }: Verdicts, row: number, record: ScoreRecord): void {
  severity[row] = record.severity ?? Number.NaN;
  grade[row] = record.grade ?? Number.NaN;
  if (record.alarm) alarm[row] = 1;
}
