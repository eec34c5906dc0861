import { conclude } from '../../../detector/event/open-event.ts';
import type { StaleState } from '../../changelog/journal.ts';
import type { ScoreSink } from '../unit/batch-outcome.ts';
import { keyOf } from '../unit/unit-events.ts';

/** Before every record. */
const FIRST = -1;

/**
 * Closes the events of states that cannot be continued, at the time of their last alarm. The next commit writes these
 * states without them.
 */
export function closeOrphans(stale: Iterable<StaleState>, sink: ScoreSink): void {
  for (const entry of stale) {
    if (entry.orphan === null) continue;
    const { state, reason } = entry.orphan;
    for (const open of [state.open, state.silence]) {
      if (open === null || open.revision < 0) continue;
      sink.event(conclude(open, reason, open.lastAlarm.timestampMs), { key: keyOf(state), offset: FIRST });
    }
    sink.touched(entry);
  }
}
