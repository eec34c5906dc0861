import { parseFrequency } from '../../calendar/frequency.ts';
import type { StreamDetectionSettings } from '../../detector/calibration/settings.ts';

/**
 * The settings behind the digest of an open state. They are written once a partition, so that a later version of the
 * detector can read the values of a state that it cannot continue.
 */
const PREFIX = 's/';

export function settingsKey(digest: string): Buffer {
  return Buffer.from(PREFIX + digest);
}

/** The digest that a key of the changelog names; null for other keys. */
export function digestOfKey(key: Buffer): string | null {
  const text = key.toString('latin1');
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : null;
}

/** Without the idle limit: no state depends on it. */
export function encodeSettings({ freq, idleMs: _, ...settings }: StreamDetectionSettings): Buffer {
  return Buffer.from(JSON.stringify({ ...settings, freq: freq.alias }));
}

/** null where the frequency is not known to this version. */
export function decodeSettings(value: Buffer): StreamDetectionSettings | null {
  const { freq: alias, ...settings } = JSON.parse(value.toString()) as Omit<
    StreamDetectionSettings,
    'freq' | 'idleMs'
  > & {
    readonly freq: string;
  };
  const freq = parseFrequency(alias);
  return freq === null ? null : { ...settings, freq, idleMs: null };
}
