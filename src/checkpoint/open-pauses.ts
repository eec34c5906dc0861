import { keptEvent, type OpenEvent } from '../detection/event/open/open-event.ts';
import { readStoredJson } from './state-bytes.ts';

/**
 * The pauses of detectors that continue in a partition, by detector: the open event of each; null where it has none. A
 * worker of an earlier version passes over the record.
 */
export type OpenPauses = Readonly<Record<string, OpenEvent | null>>;

export const PAUSES_KEY = Buffer.from('pauses');

/** null without any: the record is deleted. */
export function encodePauses(pauses: OpenPauses): Buffer | null {
  return Object.keys(pauses).length === 0 ? null : Buffer.from(JSON.stringify(pauses));
}

/** Throws ServiceError `configuration` where the value is damaged. */
export function decodePauses(value: Buffer): OpenPauses {
  const pauses = readStoredJson<OpenPauses>('pauses of detectors', value, (read) => {
    return !Array.isArray(read) && Object.values(read).every((event) => event === null || Boolean(event?.lastAlarm));
  });
  return Object.fromEntries(Object.entries(pauses).map(([detector, event]) => [detector, event && keptEvent(event)]));
}
