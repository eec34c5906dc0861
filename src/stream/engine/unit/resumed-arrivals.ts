import type { ArrivalState, QueuedRecord } from '../../changelog/arrival-state.ts';
import type { ReceivedObservation } from './batch-outcome.ts';
import type { DetectionUnit } from './detection-unit.ts';

interface UnitPlace {
  readonly group: string | null;
  readonly partition: number;
}

/** What a unit takes up of the records that it had kept, and of their times. */
export function resumedArrivals(
  { heardMs = Number.NEGATIVE_INFINITY, held, buffered, queued = null, silent }: ArrivalState,
  place: UnitPlace,
): Pick<DetectionUnit, 'heardMs' | 'held' | 'buffered' | 'queued' | 'silent'> {
  return {
    heardMs,
    held: receivedAgain(held, place),
    buffered: receivedAgain(buffered, place),
    queued: queued && receivedAgain(queued, place),
    silent,
  };
}

function receivedAgain(records: readonly QueuedRecord[], { group, partition }: UnitPlace): ReceivedObservation[] {
  return records.map((one) => ({ ...one, group, record: { ...one.record, partition } }));
}
