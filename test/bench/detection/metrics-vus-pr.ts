import { lowerBound, type Segment, segmentsOf } from './event-segments.ts';

const THRESHOLDS = 250;

/**
 * Volume under the surface of precision and recall, over thresholds and widths of soft label edges, as in TSB-AD
 * (Paparrizos et al. 2022, Liu and Paparrizos 2024; `RangeAUC_volume_opt`). NaN where nothing is labelled.
 * @param scores finite, larger is more anomalous @param widthMax largest width of the edges, in rows
 */
export function vusPr(labels: Uint8Array, scores: Float64Array, widthMax: number): number {
  const events = segmentsOf(labels).map(({ start, end }) => ({ start, last: end - 1 }));
  if (events.length === 0) return Number.NaN;
  const rankOf = thresholdRanks(scores);
  const predicted = cumulated(countRanks(rankOf, () => 1));
  const widest = widened(events, widthMax, labels.length);
  const reach = maskOf(widest, labels.length);
  const near: number[] = [];
  for (let row = 0; row < labels.length; row++) if (reach[row] === 1 && labels[row] === 0) near.push(row);
  const isHit = (row: number) => (labels[row] > 0 && reach[row] === 1 ? 1 : 0);
  const surface: Surface = {
    events,
    near,
    rankOf,
    predicted,
    length: labels.length,
    positives: labels.reduce((sum, label) => sum + label, 0),
    hits: cumulated(countRanks(rankOf, isHit)),
    labelled: labels.reduce((sum, _, row) => sum + isHit(row), 0),
  };
  let sum = 0;
  for (let width = 0; width <= widthMax; width++) sum += averagePrecision(surface, width);
  return sum / (widthMax + 1);
}

/** Rows `start <= row <= last`. */
interface Event {
  readonly start: number;
  readonly last: number;
}

interface Surface {
  readonly events: readonly Event[];
  readonly length: number;
  readonly positives: number;
  /** Rows outside of events that edges can reach. */
  readonly near: readonly number[];
  /** By row: the first threshold that it passes. */
  readonly rankOf: Uint16Array;
  /** By threshold: rows that pass it; of them labelled ones. */
  readonly predicted: Float64Array;
  readonly hits: Float64Array;
  readonly labelled: number;
}

function averagePrecision(surface: Surface, width: number): number {
  const { events, near, rankOf, predicted, hits, labelled, positives, length } = surface;
  const soft = softLabels(events, width, length);
  const ranges = widened(events, width, length);
  const inRange = maskOf(ranges, length);
  const rangesFound = new Float64Array(THRESHOLDS);
  for (const range of ranges) {
    // The first threshold that any row of it passes.
    let first = THRESHOLDS;
    for (let row = range.start; row < range.end; row++) first = Math.min(first, rankOf[row]);
    if (first < THRESHOLDS) rangesFound[first] += 1 / ranges.length;
  }
  const edges = new Float64Array(THRESHOLDS);
  const stray = new Float64Array(THRESHOLDS);
  let straySum = 0;
  for (const row of near) {
    const weight = Math.min(1, soft[row]);
    const rank = rankOf[row];
    if (rank < THRESHOLDS) edges[rank] += weight;
    if (inRange[row] === 1) continue;
    straySum += weight;
    if (rank < THRESHOLDS) stray[rank] += weight;
  }
  let [found, edge, strayPassed, recallBefore, area] = [0, 0, 0, 0, 0];
  for (let t = 0; t < THRESHOLDS; t++) {
    found += rangesFound[t];
    edge += edges[t];
    strayPassed += stray[t];
    const truePositives = hits[t] + edge;
    const softPositives = labelled + (edge - strayPassed) + straySum;
    const recall = Math.min(truePositives / ((positives + softPositives) / 2), 1) * found;
    area += (recall - recallBefore) * (truePositives / predicted[t]);
    recallBefore = recall;
  }
  return area;
}

/** Labels of 1 with edges that fall off as a root, `width / 2` to either side; overlapping ones add up. */
function softLabels(events: readonly Event[], width: number, length: number): Float64Array {
  const soft = new Float64Array(length);
  const half = Math.floor(width / 2);
  for (const { start, last } of width === 0 ? [] : events) {
    for (let row = last + 1; row < Math.min(last + half + 1, length); row++) {
      soft[row] += Math.sqrt(1 - (row - last) / width);
    }
    for (let row = Math.max(start - half, 0); row < start; row++) soft[row] += Math.sqrt(1 - (start - row) / width);
  }
  return soft;
}

/** Events with their edges; those that meet are one. */
function widened(events: readonly Event[], width: number, length: number): Segment[] {
  const half = Math.floor(width / 2);
  const ranges: Segment[] = [];
  let start = Math.max(events[0].start - half, 0);
  events.forEach(({ last }, i) => {
    const next = events[i + 1];
    if (next !== undefined && last + half >= next.start - half) return;
    ranges.push({ start, end: next === undefined ? Math.min(last + half, length - 1) + 1 : last + half + 1 });
    if (next !== undefined) start = next.start - half;
  });
  return ranges;
}

/** Thresholds are scores at evenly spaced ranks, the largest first. */
function thresholdRanks(scores: Float64Array): Uint16Array {
  const ascending = scores.toSorted();
  const step = (scores.length - 1) / (THRESHOLDS - 1);
  const negated = Float64Array.from({ length: THRESHOLDS }, (_, t) => {
    const rank = t === THRESHOLDS - 1 ? scores.length - 1 : Math.floor(t * step);
    return -ascending[scores.length - 1 - rank];
  });
  return Uint16Array.from(scores, (score) => lowerBound(negated, -score));
}

function countRanks(rankOf: Uint16Array, weightOf: (row: number) => number): Float64Array {
  const counts = new Float64Array(THRESHOLDS);
  rankOf.forEach((rank, row) => {
    if (rank < THRESHOLDS) counts[rank] += weightOf(row);
  });
  return counts;
}

function cumulated(counts: Float64Array): Float64Array {
  let sum = 0;
  return counts.map((count) => (sum += count));
}

function maskOf(ranges: readonly Segment[], length: number): Uint8Array {
  const mask = new Uint8Array(length);
  for (const { start, end } of ranges) mask.fill(1, start, end);
  return mask;
}
