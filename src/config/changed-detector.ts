import { parseDocument } from 'yaml';

/**
 * A detectors file with other settings in one of its detectors; comments and the rest stay as they are. The result is
 * not checked.
 * @param changes by their keys; `events.direction` is `direction` below `events`
 */
export function withChangedDetector(
  text: string,
  index: number,
  changes: Readonly<Record<string, string | number>>,
): string {
  const document = parseDocument(text);
  for (const [key, value] of Object.entries(changes)) {
    document.setIn(['detectors', index, ...key.split('.')], value);
  }
  return String(document);
}
