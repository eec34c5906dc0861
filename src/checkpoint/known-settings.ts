import type { StreamDetectionSettings } from '../detection/calibration/settings.ts';
import { meanStepMs, parseFrequency } from '../time/frequency.ts';
import { type LocalCalendar, UTC_CALENDAR } from '../time/local-calendar.ts';
import { readStoredJson } from './state-bytes.ts';

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
export function encodeSettings({ freq, idleMs: _, profile, ...settings }: StreamDetectionSettings): Buffer {
  return Buffer.from(JSON.stringify({ ...settings, freq: freq.alias, calendar: profile?.calendar }));
}

type WrittenSettings = Omit<StreamDetectionSettings, 'freq' | 'idleMs' | 'profile'> & {
  readonly freq: string;
  readonly calendar?: LocalCalendar;
};

/** null if the frequency is not known to this version. Throws ServiceError `configuration` for a damaged value. */
export function decodeSettings(value: Buffer): StreamDetectionSettings | null {
  const isSettings = ({ freq }: WrittenSettings) => typeof freq === 'string';
  const read = readStoredJson<WrittenSettings>('settings of a detector', value, isSettings);
  const { freq: alias, calendar = UTC_CALENDAR, ...settings } = read;
  const freq = parseFrequency(alias);
  if (freq === null) return null;
  return { ...settings, freq, idleMs: null, profile: { calendar, stepMs: meanStepMs(freq) } };
}
