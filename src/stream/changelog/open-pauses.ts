import type { OpenEvent } from '../../detector/event/open-event.ts';

/**
 * The pauses of detectors that go on in a partition, by detector: the open event of each; null where it has none. A
 * worker of an earlier version passes over the record.
 */
export type OpenPauses = Readonly<Record<string, OpenEvent | null>>;

export const PAUSES_KEY = Buffer.from('pauses');

/** null without any: the record is deleted. */
export function encodePauses(pauses: OpenPauses): Buffer | null {
  return Object.keys(pauses).length === 0 ? null : Buffer.from(JSON.stringify(pauses));
}

export function decodePauses(value: Buffer): OpenPauses {
  return JSON.parse(value.toString()) as OpenPauses;
}
