import { createRecordDecoder } from '../codecs/observations/record-decoder.ts';
import type { StreamConfig } from '../config/config.ts';
import { detectorsOfInput } from '../engine/unit/loaded-detector.ts';
import { ServiceError } from '../ops/service-error.ts';
import { demoRecords } from './demo-feed.ts';
import { STEPS_PER_DAY, stepAt } from './demo-time.ts';

/**
 * The demo series that these detectors score. Throws ServiceError `configuration` when there are none: the detectors
 * file was written for other streams.
 */
export function coveredDemoSeries({ input, detectors }: StreamConfig, nowMs: number): ReadonlySet<string> {
  const covered = new Set<string>();
  if (input.format === 'json' && input.values === undefined) {
    const { detectorOf, groupSourceOf } = detectorsOfInput(
      detectors.map((config) => ({ config })),
      input,
    );
    const decoder = createRecordDecoder(input, { groupSourceOf });
    const step = stepAt(nowMs);
    // Within one step a series, or all of them, may have stopped, as the demo plays it.
    for (const { key, value } of demoRecords(step + 1 - STEPS_PER_DAY, step + 1, new Map())) {
      const decoded = decoder.decode({ value }, nowMs);
      if (decoded.kind !== 'observation' || detectorOf(decoded.source ?? decoded.series) === null) continue;
      if (decoded.group === null || decoded.group === key.toString()) covered.add(decoded.series);
    }
  }
  if (covered.size > 0) return covered;
  const text =
    'start feeds series of its own, JSON records such as {"series": "web-1/cpu", "timestamp": 1767225600000, ' +
    '"value": 0.42}, and the ' +
    'detectors file takes none of them: leave DETECTORS away, or score your own streams with the command "worker"';
  throw new ServiceError('configuration', text);
}
