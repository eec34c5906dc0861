import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGE_ENTRY, StateReader } from '../../../src/checkpoint/state-bytes.ts';
import type { DetectorConfig } from '../../../src/config/config.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import type { MemoryBroker } from '../../fixture/stream/memory-log.ts';
import {
  detectorConfig,
  groupDetector,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';

const DETECTORS: Readonly<Record<string, DetectorConfig>> = {
  plain: detectorConfig(),
  'overlapping forecasts': detectorConfig({
    settings: streamSettings({ h: 6, stepSize: 3, detectionSize: 6, calibrationSize: 42 }),
  }),
  'short horizons': detectorConfig({
    settings: streamSettings({ h: 4, stepSize: 4, detectionSize: 16, calibrationSize: 'all' }),
  }),
  'reordered records': detectorConfig({ settings: streamSettings({ latenessMs: 180_000, detectionSize: 8 }) }),
  groups: groupDetector({ calibrationSize: 28, gapLimit: 4, grace: 2 }),
};
const SERIES = ['a', 'b', 'c'];

/** Gaps, members that leave and return, and values that alarm. */
const rows = fc.array(
  fc.tuple(...SERIES.map(() => fc.option(fc.integer({ min: -9, max: 9 }), { freq: 7, nil: null }))),
  { minLength: 70, maxLength: 100 },
);

type Rows = readonly (readonly (number | null)[])[];

function recordsOf(chosen: Rows) {
  return chosen.flatMap((row, step) =>
    SERIES.flatMap((series, i) => {
      const value = row[i] === 9 ? 80 : row[i];
      const away = i === 2 && step >= 40 && step < 52;
      return value === null || away ? [] : [observationRecord(series, step, value, 'g')];
    }),
  );
}

/** Entries of the delta log that are changes, and all of them. */
function entriesOf(broker: MemoryBroker): { changes: number; all: number } {
  let [changes, all] = [0, 0];
  for (const { key, value } of broker.read(TOPICS.changelog, 0)) {
    if (!key?.toString().startsWith('j/') || value === null) continue;
    for (const reader = new StateReader(value, 1); !reader.done; all++) {
      const end = reader.u32() + reader.position;
      if (reader.u8() === CHANGE_ENTRY) changes++;
      reader.position = end;
    }
  }
  return { changes, all };
}

/** Records of one commit may be in another order than those of two. */
function sorted(records: readonly (ScoreRecord | AnomalyEvent)[]): string[] {
  return records.map((record) => JSON.stringify(record)).sort();
}

for (const [name, detector] of Object.entries(DETECTORS)) {
  test(`whichever changes a restore finds, the scores after it are those without one: ${name}`, async () => {
    let [changes, all] = [0, 0];
    await fc.assert(
      fc.asyncProperty(rows, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 8 }), async (chosen, chunks) => {
        const records = recordsOf(chosen);
        const whole = streamRun({ detectors: [detector] });
        for (const { key, value } of records) whole.broker.append(0, key, value);
        await whole.scoreAll();

        const run = streamRun({ detectors: [detector], limits: { commitRecordsMax: 7 } });
        for (let at = 0, i = 0; at < records.length; i++) {
          const end = at + chunks[i % chunks.length];
          for (const { key, value } of records.slice(at, end)) run.broker.append(0, key, value);
          await run.scoreAll();
          at = end;
        }
        assert.deepEqual(sorted(run.scores()), sorted(whole.scores()));
        assert.deepEqual(sorted(run.events()), sorted(whole.events()));
        const entries = entriesOf(run.broker);
        changes += entries.changes;
        all += entries.all;
      }),
      { numRuns: 8, endOnFailure: true },
    );
    assert.ok(changes > all / 4, `${changes} of ${all} entries are changes`);
  });
}
