import { offsetElsewhere } from '../../../record/input-place.ts';
import type { HeldRecord, QueuedRecord } from '../../changelog/arrival-state.ts';
import { GroupUnit } from '../group/group-unit.ts';
import type { SeriesUnit } from '../unit/series-unit.ts';

/**
 * A start offset of a state that moves to another partition: no offset there is the same, or windows of a later life of
 * the series would be taken for those of this one.
 */
export function movedStartOffset(startOffset: number): number {
  return startOffset < 0 ? startOffset : Math.floor(startOffset) + 0.5;
}

function withSilence<R extends QueuedRecord>(queued: R, from: number): R {
  const { silence } = queued;
  if (silence === undefined) return queued;
  return { ...queued, silence: { ...silence, lastOffset: offsetElsewhere(from, silence.lastOffset) } };
}

/** Offsets that a unit knows of the partition that it leaves say so from now on. */
export function relocate(unit: SeriesUnit | GroupUnit, from: number): void {
  const moved = <R extends HeldRecord>(held: R): R => {
    return { ...held, record: { ...held.record, offset: offsetElsewhere(from, held.record.offset) } };
  };
  unit.newestOffset = offsetElsewhere(from, unit.newestOffset);
  unit.held = unit.held.map(moved);
  unit.buffered = unit.buffered.map(moved);
  unit.queued = unit.queued?.map((one) => withSilence(moved(one), from)) ?? null;
  if (!(unit instanceof GroupUnit)) {
    unit.startOffset = movedStartOffset(unit.startOffset);
    return;
  }
  unit.members = unit.members.map((member) => ({ ...member, startOffset: movedStartOffset(member.startOffset) }));
  for (const { observations } of unit.pending) {
    for (const [series, observation] of observations) {
      observations.set(series, { ...observation, offset: offsetElsewhere(from, observation.offset) });
    }
  }
}
