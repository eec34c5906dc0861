/** A key of an object or an index of an array. */
export type PathSegment = string | number;

/** Reads the value at a path of a record; undefined if it does not exist. Never throws. */
export type RecordAccessor = (record: unknown) => unknown;

const SEGMENT = /\.?([^.[\]"'\s][^.[\]"']*)|\[(\d{1,6})\]|\["((?:[^"\\]|\\.)+)"\]|\['((?:[^'\\]|\\.)+)'\]/y;

/**
 * The segments of a path: `tags.host`, `points[0].value`, or `["a.b"].c` where a key contains a dot. A leading `$.` is
 * allowed. null when the text is not a path.
 */
export function parseRecordPath(text: string): readonly PathSegment[] | null {
  const segments: PathSegment[] = [];
  let at = /^\$(?=[.[])/.test(text) ? 1 : 0;
  while (at < text.length) {
    SEGMENT.lastIndex = at;
    const match = SEGMENT.exec(text);
    if (match === null) return null;
    const [whole, key, index, double, single] = match;
    const dotted = whole.startsWith('.');
    if (key !== undefined && dotted === (at === 0)) return null;
    if (key !== undefined) segments.push(key);
    else if (index !== undefined) segments.push(Number(index));
    else segments.push((double ?? single ?? '').replace(/\\(.)/g, '$1'));
    at += whole.length;
  }
  return segments.length === 0 ? null : segments;
}

/** Throws a RangeError when `text` is not a path. */
export function compileRecordPath(text: string): RecordAccessor {
  const segments = parseRecordPath(text);
  if (segments === null) throw new RangeError(`not a record path: ${JSON.stringify(text)}`);
  const steps = segments.map(compileStep);
  const [first, second] = steps;
  if (steps.length === 1) return first;
  if (steps.length === 2) return (record) => second(first(record));
  return (record) => {
    let place = record;
    for (const step of steps) place = step(place);
    return place;
  };
}

function compileStep(segment: PathSegment): RecordAccessor {
  if (typeof segment === 'number') return (place) => (Array.isArray(place) ? place[segment] : undefined);
  // Only these keys are found on every object. Other keys may be on a prototype: Protobuf's defaults are.
  if (segment in Object.prototype) {
    return (place) => (isObject(place) && Object.hasOwn(place, segment) ? place[segment] : undefined);
  }
  return (place) => (isObject(place) ? place[segment] : undefined);
}

function isObject(place: unknown): place is Record<string, unknown> {
  return typeof place === 'object' && place !== null && !Array.isArray(place);
}
