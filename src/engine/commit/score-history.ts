import type { WritableObservation } from '../../codecs/observations/observation-writer.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { ScoreRecord } from '../../records/score-record.ts';
import { groupIdOf } from '../../records/series/series-identity.ts';
import { PartitionState } from '../state/partition-state.ts';
import { extrasFor, type LoadedDetector, matchDetectors } from '../unit/loaded-detector.ts';
import { NO_STATE, type ScoreOutputs, type ScoreSink } from '../unit/score-sink.ts';
import { type Tally, TallyCounts } from './tally.ts';

export type PastObservation = Omit<WritableObservation, 'group'>;

interface HistoryOptions {
  /** Name of the history, for the scores' `input`. */
  readonly source: string;
  /** In the order of the detectors file. */
  readonly detectors: readonly LoadedDetector[];
  /** Group id of series whose groups are not made of labels; null: the name of their detector. */
  readonly group: string | null;
  /** Called with the scores of each batch, in input order. A group's scores may come with a later batch. */
  onScores(scores: readonly ScoreRecord[]): Promise<void> | void;
  /** Called with every revision of every event, in the order they are made. */
  readonly onEvent?: ((event: AnomalyEvent) => void) | undefined;
}

/** Observations in a batch: enough for full batches of the model. */
const BATCH_MAX = 8_192;

/** No series is evicted, because the history is in memory. */
const UNITS_MAX = Number.POSITIVE_INFINITY;

/**
 * Scores a history with the code of the stream, without Kafka. The input offset of a score is the index of its
 * observation in `byTime`. Rejects when the model fails or `signal` aborts.
 */
export async function scoreHistory(
  history: readonly PastObservation[],
  options: HistoryOptions,
  signal: AbortSignal,
): Promise<Tally> {
  const counts = new TallyCounts('other');
  const { tally } = counts;
  const state = new PartitionState({ topic: options.source, partition: 0 }, UNITS_MAX);
  const detectorOf = matchDetectors(options.detectors);
  const ordered = byTime(history);
  for (let start = 0; start < ordered.length; start += BATCH_MAX) {
    const found: FoundScore[] = [];
    const sink = collectScores(counts, found, options.onEvent);
    const observations = ordered.slice(start, start + BATCH_MAX).flatMap((observation, i) => {
      const { series, timestampMs, value } = observation;
      const loaded = detectorOf(series);
      if (loaded === null) {
        tally.input.leave(series, false);
        tally.deadLetters['series-unknown'] = (tally.deadLetters['series-unknown'] ?? 0) + 1;
        return [];
      }
      const record = { partition: 0, offset: start + i, timestampMs, key: null, value: null };
      const extras = extrasFor(loaded, observation.extras);
      return [{ series, timestampMs, value, record, extras, group: groupOf(series, loaded, options.group), loaded }];
    });
    signal.throwIfAborted();
    await state.score(observations, sink, signal);
    if (start + BATCH_MAX >= ordered.length) await state.finish(sink, signal);
    found.sort((a, b) => a.at - b.at);
    await options.onScores(found.map(({ score }) => score));
  }
  return tally;
}

/**
 * Orders the observations of all series by time. The order within a series stays: a late observation stays late, and
 * one wrong time moves nothing else. Observations of the same time keep their order in `history`.
 */
export function byTime<P extends PastObservation>(history: readonly P[]): P[] {
  const due = new Float64Array(history.length);
  for (const indexes of Map.groupBy(history.keys(), (index) => history[index].series).values()) {
    const times = indexes.map((index) => history[index].timestampMs);
    let dueMs = Number.NEGATIVE_INFINITY;
    indexes.forEach((index, i) => {
      dueMs = Math.max(dueMs, middle(times[i - 1] ?? -Infinity, times[i], times[i + 1] ?? Infinity));
      due[index] = dueMs;
    });
  }
  return Array.from(due.keys())
    .sort((a, b) => due[a] - due[b])
    .map((index) => history[index]);
}

/** The middle one of three times: a single wrong one between two others does not count. */
function middle(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function groupOf(series: string, { config }: LoadedDetector, group: string | null): string | null {
  if (config.by !== null) return groupIdOf(series, config.by);
  return config.group === null ? null : (group ?? config.name);
}

interface FoundScore {
  readonly score: ScoreRecord;
  /** Input offset that orders it. */
  readonly at: number;
}

function collectScores(counts: TallyCounts, found: FoundScore[], onEvent: HistoryOptions['onEvent']): ScoreSink {
  const outputs: ScoreOutputs = {
    score(score) {
      counts.score(score);
      found.push({ score, at: score.input.offset });
    },
    silence(score, foundAt) {
      counts.score(score);
      // Before the score of the record that showed it.
      found.push({ score, at: foundAt - 0.5 });
    },
    event(event) {
      counts.event(event);
      onEvent?.(event);
    },
    deadLetter: (record, cause) => counts.deadLetter(record, cause),
  };
  return { outputs, state: NO_STATE, counters: counts, lifecycle: counts };
}
