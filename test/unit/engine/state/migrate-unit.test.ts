import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundSilence } from '../../../../src/checkpoint/arrival-state.ts';
import { migrateQueue } from '../../../../src/engine/state/migrate-unit.ts';
import type { ReceivedObservation } from '../../../../src/engine/unit/received-observation.ts';

function waiting(timestampMs: number, silence?: FoundSilence): ReceivedObservation {
  const record = { partition: 0, offset: 7, timestampMs, key: null, value: null };
  return { series: 'last', group: null, timestampMs, value: 1, record, silence };
}

function newestMs(queued: readonly ReceivedObservation[]): number {
  const unit = { newestOffset: -1, arrivedMs: Number.NaN };
  migrateQueue(7, queued, unit);
  assert.equal(unit.newestOffset, 7);
  return unit.arrivedMs;
}

test('the newest record that waits defines when the series was last seen, and a silence that waits does not', () => {
  const silence = { cause: 'event-time', lastOffset: 6 } as const;
  assert.equal(newestMs([waiting(60_000), waiting(180_000), waiting(120_000)]), 180_000);
  assert.equal(newestMs([waiting(240_000, silence)]), Number.NaN);
  assert.equal(newestMs([waiting(60_000), waiting(240_000, silence)]), 60_000);
});
