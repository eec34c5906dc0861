import type { InputRecord } from '../../log/log.ts';
import { type RecordRoute, routeRecords } from './route-records.ts';
import { type ScoringContext, scoreRecords } from './score-records.ts';

/** What becomes of the records of a partition. */
export interface RecordTaking {
  /** Where they go in place of being scored; null: nowhere. */
  readonly route: RecordRoute | null;
}

/** Scores records into `pending`, or passes them on. It rejects as `scoreRecords` does. */
export async function takeRecords(
  records: readonly InputRecord[],
  { route }: RecordTaking,
  context: ScoringContext,
): Promise<void> {
  if (route === null) await scoreRecords(records, context);
  else await routeRecords(records, { ...context, route });
}
