import type { SeriesLayout } from '../../detection/memory/series-memory.ts';
import {
  CLOSED_MORE,
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  type ProfileState,
  placesOfSlot,
  ROW_DOUBLES,
  ROW_FLOATS,
  slotPlaces,
} from '../../detection/profile/profile-layout.ts';
import type { StateReader, StateWriter } from '../state-bytes.ts';

/** Changes of earlier formats have all numbers, regardless of what closed. */
const ROWS_FORMAT = 6;

/** Earlier formats know nothing of whole days: what is learned of them begins empty. */
const DAYS_FORMAT = 7;
const FLOATS_BEFORE_DAYS = PROFILE_FLOATS.at.todaySlots;

/** Parts of the seasonal profile in a change: numbers of rows, all of them with the slot that closed, or everything. */
const ROWS = 0;
const ONE_SLOT = 1;
const EVERYTHING = CLOSED_MORE;

const { closed: CLOSED, closedSlot: CLOSED_SLOT } = PROFILE_FLOATS.at;

export function profileBytesMax({ profile, halves }: Pick<SeriesLayout, 'profile' | 'halves'>): number {
  return profile === null ? 1 : 1 + 9 * (PROFILE_DOUBLES.count + PROFILE_FLOATS.count) + 2 * halves;
}

/** Writes the seasonal profile whole: slots of a day, 0 if there is none, then its numbers and its slots. */
export function writeProfile(writer: StateWriter, state: ProfileState | null): void {
  writer.u8(state?.layout.daySlots ?? 0);
  if (state === null) return;
  writeNumbers(writer, state);
  writeSlots(writer, state);
}

export function readProfile(reader: StateReader, state: ProfileState | null): void {
  const daySlots = reader.u8();
  if (daySlots === 0) return;
  const kept = state?.layout.daySlots === daySlots ? state : null;
  readNumbers(reader, kept);
  readSlots(reader, kept, slotPlaces(daySlots).count);
}

/** Writes what changed in the seasonal profile since it was last written. */
export function writeProfileChange(writer: StateWriter, state: ProfileState | null): void {
  writer.u8(state?.layout.daySlots ?? 0);
  if (state === null) return;
  const closed = state.floats[state.floatStart + CLOSED];
  writer.u8(closed);
  if (closed === ROWS) writeRows(writer, state);
  else writeNumbers(writer, state);
  if (closed === EVERYTHING) writeSlots(writer, state);
  if (closed !== ONE_SLOT) return;
  const weekSlot = state.floats[state.floatStart + CLOSED_SLOT];
  for (const at of placesOfSlot(state.layout.daySlots, weekSlot)) writer.f16(state.halves[state.halfStart + at]);
}

export function readProfileChange(reader: StateReader, state: ProfileState | null): void {
  const daySlots = reader.u8();
  if (daySlots === 0) return;
  const kept = state?.layout.daySlots === daySlots ? state : null;
  const closed = reader.u8();
  if (closed === ROWS && reader.format >= ROWS_FORMAT) {
    readRows(reader, kept);
    return;
  }
  const weekSlot = readNumbers(reader, kept);
  if (closed === EVERYTHING) readSlots(reader, kept, slotPlaces(daySlots).count);
  if (closed !== ONE_SLOT) return;
  for (const at of placesOfSlot(daySlots, weekSlot)) {
    const half = reader.f16();
    if (kept !== null) kept.halves[kept.halfStart + at] = half;
  }
}

function writeRows(writer: StateWriter, { doubles, doubleStart, floats, floatStart }: ProfileState): void {
  writer.numbers(doubles, doubleStart, ROW_DOUBLES);
  writer.numbers(floats, floatStart, ROW_FLOATS);
}

function readRows(reader: StateReader, state: ProfileState | null): void {
  for (const at of ROW_DOUBLES) {
    const number = reader.number();
    if (state !== null) state.doubles[state.doubleStart + at] = number;
  }
  for (const at of ROW_FLOATS) {
    const number = reader.number();
    if (state !== null) state.floats[state.floatStart + at] = number;
  }
}

/** From then on changes count from here. */
function writeNumbers(writer: StateWriter, { doubles, doubleStart, floats, floatStart }: ProfileState): void {
  floats[floatStart + CLOSED] = ROWS;
  for (let at = 0; at < PROFILE_DOUBLES.count; at++) writer.number(doubles[doubleStart + at]);
  for (let at = 0; at < PROFILE_FLOATS.count; at++) writer.number(floats[floatStart + at]);
}

/** Returns the slot that closed last. */
function readNumbers(reader: StateReader, state: ProfileState | null): number {
  for (let at = 0; at < PROFILE_DOUBLES.count; at++) {
    const number = reader.number();
    if (state !== null) state.doubles[state.doubleStart + at] = number;
  }
  let closedSlot = 0;
  const floats = reader.format < DAYS_FORMAT ? FLOATS_BEFORE_DAYS : PROFILE_FLOATS.count;
  for (let at = 0; at < floats; at++) {
    const number = reader.number();
    if (at === CLOSED_SLOT) closedSlot = number;
    if (state !== null) state.floats[state.floatStart + at] = number;
  }
  return closedSlot;
}

function writeSlots(writer: StateWriter, { layout, halves, halfStart }: ProfileState): void {
  for (let at = halfStart; at < halfStart + layout.halves; at++) writer.f16(halves[at]);
}

function readSlots(reader: StateReader, state: ProfileState | null, count: number): void {
  for (let at = 0; at < count; at++) {
    const half = reader.f16();
    if (state !== null) state.halves[state.halfStart + at] = half;
  }
}
