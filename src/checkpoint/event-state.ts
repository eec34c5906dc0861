import type { KeptTracker } from '../detection/event/event-tracker.ts';
import { keptEvent, type OpenEvent } from '../detection/event/open-event.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/**
 * What is kept of a unit's events: mostly nothing. It comes first in an open state, so that an open event can be read,
 * and closed, where the rest was made under settings that are not known any more.
 */
export interface EventState extends KeptTracker {
  /** Key of the scores, one character a byte; null where they have none. */
  readonly key: string | null;
  /** The series sends nothing; null while it does. */
  readonly silence: OpenEvent | null;
}

/** The events of a unit, as far as they are kept. */
export interface KeptEvents {
  state(): EventState | null;
  resume(state: EventState | null): void;
}

/** As a StateWriter writes an empty text. */
const NO_TEXT = Buffer.alloc(2);

export function writeEventState(writer: StateWriter, state: EventState | null): void {
  writer.text(state === null ? '' : JSON.stringify(state));
}

/** The bytes of an entry without its events; `reader` precedes them. */
export function cutEvents(bytes: Buffer, reader: StateReader): Buffer {
  const start = reader.position;
  reader.text();
  return Buffer.concat([bytes.subarray(0, start), NO_TEXT, bytes.subarray(reader.position)]);
}

/** null where nothing is kept. */
export function readEventState(reader: StateReader): EventState | null {
  const text = reader.text();
  if (text === '') return null;
  const { open, silence, ...state } = JSON.parse(text) as EventState;
  return { ...state, open: open && keptEvent(open), silence: silence && keptEvent(silence) };
}
