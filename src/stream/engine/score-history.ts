import type { ScoreRecord } from '../record/score-record.ts';
import { type Arrival, emptyTally, type ScoreSink, type Tally } from './batch-outcome.ts';
import { matchDetectors, type WatchedDetector } from './bound-detector.ts';
import { PartitionState } from './partition-state.ts';

/** One observation of a history. */
export interface PastObservation {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
}

export interface BacktestOptions {
  /** What is scored, in the order of its arrival; it stands in the scores' `input`. */
  readonly source: string;
  /** In the order of the detectors file. */
  readonly detectors: readonly WatchedDetector[];
  /** The group of series whose detector judges groups; null: each such detector has one group, of its own name. */
  readonly group: string | null;
  /** Scores in the order in which their observations arrived, as far as they are known by then. */
  onScores(scores: readonly ScoreRecord[]): Promise<void> | void;
}

/** Observations scored at a time: enough for full runs of the model. */
const BATCH_MAX = 8_192;

/** As in the stream, but a history is all there: nobody is evicted. */
const UNITS_MAX = Number.POSITIVE_INFINITY;

/**
 * Scores a history as the stream would, by the same code, without Kafka. The input offset of a score is the observation's place in
 * `byTime`. Rejects when the model fails or `signal` aborts.
 */
export async function backtest(
  history: readonly PastObservation[],
  options: BacktestOptions,
  signal: AbortSignal,
): Promise<Tally> {
  const tally = emptyTally();
  const state = new PartitionState({ topic: options.source, partition: 0 }, UNITS_MAX);
  const detectorOf = matchDetectors(options.detectors);
  const ordered = byTime(history);
  for (let start = 0; start < ordered.length; start += BATCH_MAX) {
    const scores: ScoreRecord[] = [];
    const sink = collectScores(tally, scores);
    const arrivals = ordered.slice(start, start + BATCH_MAX).flatMap((observation, i) => {
      const watched = detectorOf(observation.series);
      if (watched !== null) return [{ ...arrivalOf(observation, start + i, watched, options.group), watched }];
      tally.deadLetters['series-unknown'] = (tally.deadLetters['series-unknown'] ?? 0) + 1;
      return [];
    });
    signal.throwIfAborted();
    await state.score(arrivals, sink, signal);
    scores.sort((a, b) => a.input.offset - b.input.offset);
    await options.onScores(scores);
  }
  return tally;
}

/**
 * The observations of all series in the order of time, each series in its own order: one that is late in its series stays late.
 * At the same time the order is that of `history`.
 */
export function byTime(history: readonly PastObservation[]): PastObservation[] {
  const newest = new Map<string, number>();
  const due = history.map(({ series, timestampMs }) => {
    const dueMs = Math.max(timestampMs, newest.get(series) ?? Number.NEGATIVE_INFINITY);
    newest.set(series, dueMs);
    return dueMs;
  });
  return Array.from(due.keys())
    .sort((a, b) => due[a] - due[b])
    .map((index) => history[index]);
}

function arrivalOf(
  { series, timestampMs, value }: PastObservation,
  offset: number,
  { config }: WatchedDetector,
  group: string | null,
): Arrival {
  const record = { partition: 0, offset, timestampMs, key: null, value: null };
  return { series, group: config.group === null ? null : (group ?? config.name), timestampMs, value, record };
}

function collectScores(tally: Tally, scores: ScoreRecord[]): ScoreSink {
  const forget = () => {};
  return {
    score(score) {
      tally.scored[score.state]++;
      if (score.anomaly) tally.flagged++;
      scores.push(score);
    },
    deadLetter(reason) {
      tally.deadLetters[reason] = (tally.deadLetters[reason] ?? 0) + 1;
    },
    duplicate() {
      tally.duplicates++;
    },
    gapFilled() {
      tally.gapsFilled++;
    },
    restarted(reason) {
      tally.restarted[reason] = (tally.restarted[reason] ?? 0) + 1;
    },
    windowClosed: forget,
    touched: forget,
    windowsGone: forget,
    unitGone: forget,
  };
}
