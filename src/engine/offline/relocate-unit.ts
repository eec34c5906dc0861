import { offsetElsewhere } from '../../records/input-place.ts';
import { GroupUnit } from '../group/group-unit.ts';
import type { SeriesUnit } from '../unit/series-unit.ts';

/**
 * A start offset of a state that moves to another partition: no offset there is the same, or windows of a later life of
 * the series would be taken for those of this one.
 */
export function movedStartOffset(startOffset: number): number {
  return startOffset < 0 ? startOffset : Math.floor(startOffset) + 0.5;
}

/** Offsets that a unit knows of the partition that it leaves are marked as such from now on. */
export function relocate(unit: SeriesUnit | GroupUnit, from: number): void {
  const elsewhere = (offset: number) => offsetElsewhere(from, offset);
  unit.newestOffset = elsewhere(unit.newestOffset);
  unit.waiting.relocate(({ record, silence, ...one }) => ({
    ...one,
    record: { ...record, offset: elsewhere(record.offset) },
    silence: silence && { ...silence, lastOffset: elsewhere(silence.lastOffset) },
  }));
  unit.waiting.steps?.relocate(elsewhere);
  if (!(unit instanceof GroupUnit)) {
    unit.startOffset = movedStartOffset(unit.startOffset);
    return;
  }
  unit.members = unit.members.map((member) => ({ ...member, startOffset: movedStartOffset(member.startOffset) }));
  for (const { observations } of unit.pending) {
    for (const [series, observation] of observations) {
      observations.set(series, { ...observation, offset: elsewhere(observation.offset) });
    }
  }
}
