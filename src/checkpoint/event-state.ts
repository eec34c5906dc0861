import type { KeptTracker } from '../detection/event/event-tracker.ts';
import type { Habit } from '../detection/event/open/habits.ts';
import { keptEvent, type OpenEvent } from '../detection/event/open/open-event.ts';
import type { StateReader } from './state-bytes.ts';

/**
 * What is kept of a unit's events: mostly nothing. It comes first in an open state, so that an open event can be read,
 * and closed, where the rest was made under settings that are not known any more.
 */
export interface EventState extends KeptTracker {
  /** Key of the scores, one character a byte; null if they have none. */
  readonly key: string | null;
  /** The series sends nothing; null while it does. */
  readonly silence: OpenEvent | null;
}

export interface KeptEvents {
  /** By `eventStateText`. */
  readonly stateText: string;
  resume(state: EventState | null): void;
}

/** As a StateWriter writes an empty text. */
const NO_TEXT = Buffer.alloc(2);

/** Every observation of a series that had an event writes this text: nulls are omitted, habits are tuples. */
export function eventStateText(state: EventState | null): string {
  if (state === null) return '';
  const { habits = [], ...rest } = state;
  const known = Object.entries(rest).filter(([, value]) => value !== null);
  return JSON.stringify({ ...Object.fromEntries(known), ...(habits.length > 0 && { habits: habits.map(tuple) }) });
}

type HabitTuple = readonly [
  atMs: number,
  days: number,
  times?: number,
  value?: number | null,
  size?: number,
  series?: string,
];

function tuple({ atMs, days, times, value = null, size = 0, series }: Habit): HabitTuple {
  if (times === undefined) return [atMs, days];
  return series === undefined ? [atMs, days, times, value, size] : [atMs, days, times, value, size, series];
}

function habitOf([atMs, days, times, value, size, series]: HabitTuple): Habit {
  return { atMs, days, ...(times !== undefined && { times, value, size }), ...(series !== undefined && { series }) };
}

/** The bytes of an entry without its events; `reader` precedes them. */
export function cutEvents(bytes: Buffer, reader: StateReader): Buffer {
  const start = reader.position;
  reader.skipText();
  return Buffer.concat([bytes.subarray(0, start), NO_TEXT, bytes.subarray(reader.position)]);
}

/** null if nothing is kept. */
export function readEventState(reader: StateReader): EventState | null {
  const text = reader.text();
  if (text === '') return null;
  type Written = Partial<Omit<EventState, 'habits'>> & { readonly habits?: readonly HabitTuple[] };
  const { open = null, silence = null, habits, ...state } = JSON.parse(text) as Written;
  return {
    coolUntilMs: null,
    previous: null,
    key: null,
    ...state,
    ...(habits && { habits: habits.map(habitOf) }),
    open: open && keptEvent(open),
    silence: silence && keptEvent(silence),
  };
}
