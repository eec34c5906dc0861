import { readTimes } from '../../config/times-section.ts';
import type { Section } from '../../config/yaml-section.ts';
import type { MuteWindow } from './alert-route.ts';
import { entryName } from './receiver-section.ts';

/** Reads one entry of `mute_windows`; null where a required key is missing or wrong. */
export function readMuteWindow(section: Section): MuteWindow | null {
  const name = section.read('name', entryName, 'required');
  const times = readTimes(section);
  return name === undefined || times === null ? null : { name, times };
}
