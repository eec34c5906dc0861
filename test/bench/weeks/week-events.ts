/** The events that the detector makes of series, with the defaults of a detectors file. */

import { completeDetector, type DetectorSource } from '../../../src/config/complete-detector.ts';
import type { ProfileWishes } from '../../../src/config/keys/profile-keys.ts';
import { scoreHistory } from '../../../src/engine/commit/score-history.ts';
import { inferFrequency } from '../../../src/time/infer-frequency.ts';
import { boundTo, type Model, withModel } from '../detection/product.ts';
import type { WeekSeries } from './season-series.ts';

const DETECTION_SIZE = 24;
/** Series whose histories are in memory at the same time. */
const TOGETHER_MAX = 20;

const SOURCE: DetectorSource = {
  has: () => false,
  problem: (key, expected, got) => {
    throw new Error(`${key} must be ${expected}, got ${got}`);
  },
};

/** For each series the event times at which events begin, ascending. Names differ. */
export function eventStarts(series: readonly WeekSeries[], wishes: ProfileWishes = {}): Promise<number[][]> {
  return withModel(async (forecasters, model) => {
    const found = new Map<string, Map<string, number>>();
    for (const ofStep of Map.groupBy(series, ({ stepMs }) => stepMs).values()) {
      for (let start = 0; start < ofStep.length; start += TOGETHER_MAX) {
        await score(ofStep.slice(start, start + TOGETHER_MAX), wishes, { forecasters, model, found });
      }
    }
    return series.map(({ name }) => [...(found.get(name)?.values() ?? [])].sort((a, b) => a - b));
  });
}

interface Scoring {
  readonly forecasters: Parameters<typeof boundTo>[1];
  readonly model: Model;
  /** Starts of events by their ids, by series. */
  readonly found: Map<string, Map<string, number>>;
}

/** Series of one step share the clock of a partition, so that the silence of one is noticed. */
async function score(
  together: readonly WeekSeries[],
  wishes: ProfileWishes,
  { forecasters, model, found }: Scoring,
): Promise<void> {
  const [{ stepMs }] = together;
  const freq = inferFrequency([[0, stepMs, 2 * stepMs]])!;
  const lengths = { h: DETECTION_SIZE, detectionSize: DETECTION_SIZE };
  const written = completeDetector({ name: 'weeks', series: ['*'], freq, ...lengths, ...wishes }, SOURCE)!;
  const history = together.flatMap(({ name: series, startMs, values }) => {
    const rows = Array.from(values, (value, row) => ({ series, timestampMs: startMs + row * stepMs, value }));
    return rows.filter(({ value }) => !Number.isNaN(value));
  });
  const options = {
    source: 'weeks',
    detectors: [boundTo(written, forecasters, model)],
    group: null,
    onScores: () => {},
    onEvent({ series, eventId, firstAlarmAtMs }: { series: string | null; eventId: string; firstAlarmAtMs: number }) {
      if (series === null) return;
      found.set(series, (found.get(series) ?? new Map()).set(eventId, firstAlarmAtMs));
    },
  };
  await scoreHistory(history, options, new AbortController().signal);
}
