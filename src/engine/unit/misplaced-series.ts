import type { RecordMapping } from '../../config/config.ts';
import type { InputRecord } from '../log/log.ts';

/**
 * Why records of a series may be in several partitions, where each would be scored without the others:
 * - `null-key`: a record without a key goes to any partition
 * - `other-key`: its key is not the series, although the detectors file does not declare that keys are something else
 * - `two-partitions`: another partition of this worker has the series, too
 */
type MisplacedReason = 'null-key' | 'other-key' | 'two-partitions';

export interface MisplacedSeries {
  readonly series: string;
  readonly reason: MisplacedReason;
  /** One sentence for the operator. */
  readonly detail: string;
}

/**
 * What is wrong with the place of a series, by its first record since the partition was taken over; null for nothing.
 * @param elsewhere another partition of this worker that has the series
 */
export function whyMisplaced(
  series: string,
  { key, partition }: Pick<InputRecord, 'key' | 'partition'>,
  { elsewhere, keyedBy }: { readonly elsewhere: number | null; readonly keyedBy: RecordMapping['keyedBy'] },
): MisplacedSeries | null {
  if (elsewhere !== null) {
    const detail = `its records are in partitions ${elsewhere} and ${partition}, which score them apart`;
    return { series, reason: 'two-partitions', detail };
  }
  if (key === null) {
    const detail = 'its record has no key, so that the next one may be in another partition';
    return { series, reason: 'null-key', detail };
  }
  if (keyedBy === 'other' || key.toString() === series) return null;
  const quoted = JSON.stringify(key.toString('utf8', 0, 200));
  const remedy = 'if all of its records have the same key, set "key: other" under input';
  return { series, reason: 'other-key', detail: `the key of its record is ${quoted}, not the series: ${remedy}` };
}
