import { descendingOrder, lowerBound, maxWithin, segmentsOf } from './event-segments.ts';

/**
 * Best composite F1 over all thresholds (Garg et al. 2021): recall by events, precision by rows. NaN where nothing is
 * labelled.
 * @param scores finite, larger is more anomalous
 */
export function eventF1(labels: Uint8Array, scores: Float64Array): number {
  const events = segmentsOf(labels);
  if (events.length === 0) return Number.NaN;
  const peaks = Float64Array.from(events, (event) => maxWithin(scores, event)).sort();
  const order = descendingOrder(scores);
  let best = 0;
  let truePositives = 0;
  order.forEach((row, i) => {
    truePositives += labels[row];
    const threshold = scores[row];
    if (i + 1 < order.length && scores[order[i + 1]] === threshold) return;
    const precision = truePositives / (i + 1);
    const recall = (peaks.length - lowerBound(peaks, threshold)) / peaks.length;
    if (precision + recall > 0) best = Math.max(best, (2 * precision * recall) / (precision + recall));
  });
  return best;
}
