import { meanStepMs } from '../../calendar/frequency.ts';
import type { LoadedConfig } from '../../config/config.ts';
import { readDetectorsFile } from '../../config/detectors-file.ts';
import { bindToModel, networksBelow } from '../../detector-models.ts';
import { Forecasters } from '../../model/onnx-forecaster.ts';
import { ServiceError } from '../../service-error.ts';
import { type PastObservation, scoreHistory } from '../../stream/engine/commit/score-history.ts';
import type { SeriesColumns } from '../../suggest/series-columns.ts';
import type { Suggestion } from '../../suggest/suggestion.ts';
import type { Preview } from '../../suggest/suggestion-text.ts';
import { resolveWithModels } from '../run-worker.ts';

/** Observations that are scored for the events of a suggestion, of all detectors together. */
const PREVIEW_OBSERVATIONS_MAX = 200_000;
const WEEK_MS = 7 * 86_400_000;

interface PreviewOptions {
  readonly config: LoadedConfig;
  /** Series of each detector that are looked at. */
  readonly seriesMax: number;
  /** Only events of so many last weeks count. */
  readonly weeks: number;
  readonly stop: AbortSignal;
}

/**
 * Scores some series of each detector, the longest ones, as `backtest` does, and counts their events. The text must be
 * read without a problem. Throws a ServiceError.
 */
export async function previewEvents(
  {
    text,
    suggestion,
    columns,
  }: { readonly text: string; readonly suggestion: Suggestion; readonly columns: SeriesColumns },
  { config: loaded, seriesMax, weeks, stop }: PreviewOptions,
): Promise<ReadonlyMap<string, Preview>> {
  const { detectors } = writtenDetectors(text);
  const { models, result } = await resolveWithModels({ ...loaded, stream: { ...loaded.stream, detectors } });
  if (result.kind === 'problems') throw refused(result.problems);
  const configs = result.config.stream.detectors;
  const chosen = chooseSeries(suggestion, seriesMax);
  const history = observationsOf(columns, chosen);
  const beginMs = suggestion.endMs - weeks * WEEK_MS;
  const counts = new Map<string, { events: number; rows: number }>(
    configs.map(({ name }) => [name, { events: 0, rows: 0 }]),
  );
  const forecasters = await Forecasters.start(networksBelow(configs, models), {
    threads: loaded.worker.inferenceThreads,
  });
  try {
    const bound = configs.map((config) => bindToModel(config, models, (...spec) => forecasters.forecasterFor(...spec)));
    await scoreHistory(
      history,
      {
        source: 'suggest',
        detectors: bound,
        group: null,
        onScores(scores) {
          for (const { detector, grade, timestampMs } of scores) {
            if (grade !== null && timestampMs >= beginMs) counts.get(detector)!.rows++;
          }
        },
        onEvent({ type, detector, firstAlarmAtMs }) {
          if (type === 'opened' && firstAlarmAtMs >= beginMs) counts.get(detector)!.events++;
        },
      },
      stop,
    );
  } finally {
    await forecasters.close();
  }
  return new Map(
    suggestion.detectors.map(({ name, freq, family }) => {
      const { events, rows } = counts.get(name)!;
      const series = family.members.filter(({ id }) => chosen.has(id)).length;
      return [name, { events, series, seriesWeeks: (rows * meanStepMs(freq)) / WEEK_MS }];
    }),
  );
}

/** The detectors of a suggested file. */
function writtenDetectors(text: string): LoadedConfig['stream'] {
  const problems: string[] = [];
  const file = readDetectorsFile('the suggestion', text, problems);
  if (file === null || problems.length > 0) throw refused(problems);
  return file.stream as LoadedConfig['stream'];
}

function refused(problems: readonly string[]): ServiceError {
  return new ServiceError('internal', `The suggestion cannot be used: ${problems.join('; ')}`);
}

/** The longest series of each detector, within what may be scored. */
function chooseSeries({ detectors }: Suggestion, seriesMax: number): ReadonlySet<string> {
  const chosen = new Set<string>();
  let observations = 0;
  for (let turn = 0; turn < seriesMax; turn++) {
    for (const { family } of detectors) {
      const member = family.members.toSorted((a, b) => b.count - a.count)[turn];
      if (member === undefined || observations + member.count > PREVIEW_OBSERVATIONS_MAX) continue;
      observations += member.count;
      chosen.add(member.id);
    }
  }
  return chosen;
}

function observationsOf(columns: SeriesColumns, chosen: ReadonlySet<string>): PastObservation[] {
  const history: PastObservation[] = [];
  for (const { id: series, times, values } of columns.all()) {
    if (!chosen.has(series)) continue;
    for (let i = 0; i < times.length; i++) history.push({ series, timestampMs: times[i], value: values[i] });
  }
  return history;
}
