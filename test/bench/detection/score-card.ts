/** How well scores separate labelled incidents from the rest: of a series, and of a set of series. */
import { median } from './event-segments.ts';
import type { LabelledInput } from './labelled-data.ts';
import { SeriesAlarms, thresholdAtBudget } from './metrics-alarms.ts';
import { eventF1 } from './metrics-event-f1.ts';
import { vusPr } from './metrics-vus-pr.ts';

/** Larger is more anomalous; NaN where a row is not scored. One array may be both. */
export interface TwoScores {
  /** Is to be high as long as an incident lasts: VUS-PR. */
  readonly severity: Float64Array;
  /** Is to be high where one begins, and nowhere else: event F1, recall. */
  readonly grade: Float64Array;
}

/** Scores of a labelled series, without its warm-up. */
export interface SeriesCard {
  readonly input: LabelledInput;
  readonly vusPr: number;
  readonly eventF1: number;
  readonly alarms: SeriesAlarms;
}

export interface SetCard {
  /** Means over series. */
  readonly vusPr: number;
  readonly eventF1: number;
  /** Of all incidents, at the one threshold that makes one false alarm in 1,000 rows. */
  readonly recall: number;
  readonly falseAlarms: number;
  readonly medianDelay: number;
}

export function seriesCard(input: LabelledInput, { severity, grade }: TwoScores): SeriesCard {
  const labels = input.labels.subarray(input.split);
  const judged = (scores: Float64Array) => withLowest(scores.subarray(input.split));
  const grades = judged(grade);
  return {
    input,
    vusPr: vusPr(labels, judged(severity), input.vusWindow),
    eventF1: eventF1(labels, grades),
    alarms: new SeriesAlarms(labels, grades, input.labels.length),
  };
}

/** @param threshold of the whole set that these series are from */
export function setCard(cards: readonly SeriesCard[], threshold = sharedThreshold(cards)): SetCard {
  const mean = (of: (card: SeriesCard) => number) => cards.reduce((sum, card) => sum + of(card), 0) / cards.length;
  const found = cards.flatMap(({ alarms }) => alarms.found(threshold));
  const delays = cards.flatMap(({ alarms }) => alarms.delays(threshold)).filter((delay) => delay !== null);
  return {
    vusPr: mean((card) => card.vusPr),
    eventF1: mean((card) => card.eventF1),
    recall: found.filter(Boolean).length / found.length,
    falseAlarms: cards.reduce((sum, { alarms }) => sum + alarms.falseAlarms(threshold), 0),
    medianDelay: median(delays),
  };
}

export function sharedThreshold(cards: readonly SeriesCard[]): number {
  return thresholdAtBudget(cards.map(({ alarms }) => alarms));
}

/** What is not scored counts as less than everything that is. */
export function withLowest(scores: Float64Array): Float64Array {
  let lowest = Number.POSITIVE_INFINITY;
  for (const score of scores) if (score < lowest) lowest = score;
  const below = (Number.isFinite(lowest) ? lowest : 0) - 1e-9;
  return scores.map((score) => (Number.isFinite(score) ? score : below));
}
