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
const ALL_DOUBLES = [...Array(PROFILE_DOUBLES.count).keys()];
const { closed: CLOSED, closedSlot: CLOSED_SLOT, factor: FACTOR, factorSlots: FACTOR_SLOTS } = PROFILE_FLOATS.at;
/** A factor of the level, and its slots, precede the other numbers, where there is one. */
const ALL_FLOATS = [...Array(FACTOR).keys()];
const FACTOR_FLOATS = [FACTOR, FACTOR_SLOTS];
/** Added to the slots of a day where a factor follows. */
const FACTOR_MARK = 0x80;

/** Parts of the seasonal profile in a change: numbers of rows, all of them with the slot that closed, or everything. */
const ROWS = 0;
const ONE_SLOT = 1;
const EVERYTHING = CLOSED_MORE;

export function profileBytesMax({ profile, halves }: Pick<SeriesLayout, 'profile' | 'halves'>): number {
  return profile === null ? 1 : 1 + 9 * (PROFILE_DOUBLES.count + PROFILE_FLOATS.count) + 2 * halves;
}

/** Writes the seasonal profile whole: slots of a day, 0 if there is none, then its numbers and its slots. */
export function writeProfile(writer: StateWriter, state: ProfileState | null): void {
  writeHead(writer, state);
  if (state === null) return;
  writeNumbers(writer, state);
  writeSlots(writer, state);
}

export function readProfile(reader: StateReader, state: ProfileState | null): void {
  const { daySlots, kept } = readHead(reader, state);
  if (daySlots === 0) return;
  readNumbers(reader, kept);
  readSlots(reader, kept, slotPlaces(daySlots).count);
}

/** Writes what changed in the seasonal profile since it was last written. */
export function writeProfileChange(writer: StateWriter, state: ProfileState | null): void {
  writeHead(writer, state);
  if (state === null) return;
  const closed = state.floats[state.floatStart + CLOSED];
  writer.u8(closed);
  if (closed === ROWS) {
    writer.numbers(state.doubles, state.doubleStart, ROW_DOUBLES);
    writer.numbers(state.floats, state.floatStart, ROW_FLOATS);
  } else writeNumbers(writer, state);
  if (closed === EVERYTHING) writeSlots(writer, state);
  if (closed !== ONE_SLOT) return;
  const weekSlot = state.floats[state.floatStart + CLOSED_SLOT];
  for (const at of placesOfSlot(state.layout.daySlots, weekSlot)) writer.f16(state.halves[state.halfStart + at]);
}

export function readProfileChange(reader: StateReader, state: ProfileState | null): void {
  const { daySlots, kept } = readHead(reader, state);
  if (daySlots === 0) return;
  const closed = reader.u8();
  if (closed === ROWS && reader.format >= ROWS_FORMAT) {
    readNumbers(reader, kept, ROW_DOUBLES, ROW_FLOATS);
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

function writeHead(writer: StateWriter, state: ProfileState | null): void {
  const hasFactor = state !== null && state.floats[state.floatStart + FACTOR_SLOTS] > 0;
  writer.u8((state?.layout.daySlots ?? 0) | (hasFactor ? FACTOR_MARK : 0));
  if (hasFactor) writer.numbers(state.floats, state.floatStart, FACTOR_FLOATS);
}

/** Returns the slots of a day, and the state where it has as many. */
function readHead(reader: StateReader, state: ProfileState | null): { daySlots: number; kept: ProfileState | null } {
  const head = reader.u8();
  const daySlots = head & ~FACTOR_MARK;
  const kept = daySlots > 0 && state?.layout.daySlots === daySlots ? state : null;
  kept?.floats.fill(0, kept.floatStart + FACTOR, kept.floatStart + PROFILE_FLOATS.count);
  if (head !== daySlots) readNumbers(reader, kept, [], FACTOR_FLOATS);
  return { daySlots, kept };
}

/** From then on changes count from here. */
function writeNumbers(writer: StateWriter, { doubles, doubleStart, floats, floatStart }: ProfileState): void {
  floats[floatStart + CLOSED] = ROWS;
  writer.numbers(doubles, doubleStart, ALL_DOUBLES);
  writer.numbers(floats, floatStart, ALL_FLOATS);
}

/** Returns the slot that closed last. */
function readNumbers(
  reader: StateReader,
  state: ProfileState | null,
  ofDoubles = ALL_DOUBLES,
  ofFloats = reader.format < DAYS_FORMAT ? ALL_FLOATS.slice(0, FLOATS_BEFORE_DAYS) : ALL_FLOATS,
): number {
  let closedSlot = 0;
  for (const at of ofDoubles) {
    const number = reader.number();
    if (state !== null) state.doubles[state.doubleStart + at] = number;
  }
  for (const at of ofFloats) {
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
