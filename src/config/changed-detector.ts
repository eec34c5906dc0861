import { isMap, parseDocument } from 'yaml';

/**
 * A detectors file with other settings in one of its detectors; comments and the rest stay as they are. The result is
 * not checked.
 * @param changes by their keys; `events.direction` is `direction` below `events`. A mapping becomes one more of a list
 */
export function withChangedDetector(
  text: string,
  index: number,
  changes: Readonly<Record<string, string | number | object>>,
): string {
  const document = parseDocument(text, { merge: true });
  const written: unknown = document.getIn(['detectors', index]);
  for (const [key, value] of Object.entries(changes)) {
    const path = ['detectors', index, ...key.split('.')];
    // What was merged into the detector and is changed in part becomes its own.
    const merged = isMap(written) && !written.has(path[2]) ? written.toJS(document)[path[2]] : undefined;
    if (typeof merged === 'object') document.setIn(path.slice(0, 3), document.createNode(merged));
    if (typeof value === 'object' && document.hasIn(path)) document.addIn(path, document.createNode(value));
    else document.setIn(path, typeof value === 'object' ? document.createNode([value]) : value);
  }
  return String(document);
}
