import assert from 'node:assert/strict';
import test from 'node:test';
import {
  profileBytesMax,
  readProfile,
  readProfileChange,
  writeProfile,
  writeProfileChange,
} from '../../../../src/checkpoint/series/profile-state.ts';
import { StateReader, StateWriter } from '../../../../src/checkpoint/state-bytes.ts';
import { NO_VERDICT } from '../../../../src/detection/alarm/alarm.ts';
import {
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  type ProfileState,
  profileLayout,
  startProfile,
} from '../../../../src/detection/profile/profile-layout.ts';
import { judgeSeason } from '../../../../src/detection/profile/season-alarm.ts';
import { trackSeason } from '../../../../src/detection/profile/season-verdict.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import { fc } from '../../../fixture/fast-check.ts';
import { whiteNoise } from '../../../fixture/stream/backtest.ts';

const STEP_MS = 1_200_000;

function fresh(stepMs = STEP_MS): ProfileState {
  const layout = profileLayout(UTC_CALENDAR, stepMs)!;
  const doubles = new Float64Array(PROFILE_DOUBLES.count);
  const floats = new Float32Array(PROFILE_FLOATS.count);
  const halves = new Float16Array(layout.halves);
  const state = { layout, doubles, doubleStart: 0, floats, floatStart: 0, halves, halfStart: 0 };
  startProfile(state);
  return state;
}

function bytesOf(write: (writer: StateWriter) => void): Buffer {
  const writer = new StateWriter();
  write(writer);
  return writer.drain();
}

test('a profile that is written in parts is restored exactly, whatever happened between them', () => {
  // Rows, how far they lie apart, and how large their values are: large ones change the unit.
  const parts = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 40 }), fc.constantFrom(1, 1, 1, 7), fc.constantFrom(0, 1, 1, 1e7), fc.boolean()),
    { minLength: 2, maxLength: 12 },
  );
  let changes = 0;
  fc.assert(
    fc.property(parts, (chosen) => {
      const [live, restored] = [fresh(), fresh()];
      let ms = 1_000;
      readProfile(new StateReader(bytesOf((writer) => writeProfile(writer, live))), restored);
      for (const [rows, apart, size, isWhole] of chosen) {
        for (let row = 0; row < rows; row++) {
          ms += apart * STEP_MS;
          trackSeason(live, ms, size * Math.sin(ms), 0);
        }
        const write = isWhole ? writeProfile : writeProfileChange;
        const reader = new StateReader(bytesOf((writer) => write(writer, live)));
        if (isWhole) readProfile(reader, restored);
        else readProfileChange(reader, restored);
        assert.ok(reader.done);
        assert.deepEqual(restored, live);
        if (!isWhole) changes++;
      }
    }),
  );
  assert.ok(changes > 100);
});

test('a profile is passed over where its series has none, or has other slots, and one that is absent changes nothing', () => {
  const live = fresh();
  for (let row = 0; row < 200; row++) trackSeason(live, row * STEP_MS, row % 72, 0);
  for (const [write, read] of [
    [writeProfileChange, readProfileChange],
    [writeProfile, readProfile],
  ] as const) {
    const bytes = bytesOf((writer) => write(writer, live));
    assert.ok(bytes.length <= profileBytesMax({ profile: live.layout, halves: live.layout.halves }));
    for (const other of [null, fresh(7_200_000)]) {
      const reader = new StateReader(bytes);
      read(reader, other);
      assert.ok(reader.done);
      if (other !== null) assert.deepEqual(other, fresh(7_200_000));
    }
    const unchanged = fresh();
    read(new StateReader(bytesOf((writer) => write(writer, null))), unchanged);
    assert.deepEqual(unchanged, fresh());
  }
});

test('a profile that is written and read in the middle of a low day continues to the same alarm of the day', () => {
  const stepMs = 900_000;
  const dayMs = 86_400_000;
  const noise = whiteNoise(1);
  const days = 16;
  const values = Array.from({ length: ((days + 7) * dayMs) / stepMs }, (_, row) => {
    const level = 300 + 200 * Math.sin((2 * Math.PI * (row * stepMs)) / dayMs);
    return level * (1 + 0.1 * noise()) * (Math.floor((row * stepMs) / dayMs) === days ? 0.8 : 1);
  });
  const judge = (state: ProfileState, row: number) => {
    const season = trackSeason(state, row * stepMs, values[row], 0);
    return judgeSeason(state, { ...NO_VERDICT, grade: 0.1 }, season, 0.001).season;
  };
  const live = fresh(stepMs);
  const raisedAt = values.findIndex((_, row) => judge(live, row)?.day !== undefined);
  assert.equal(Math.floor((raisedAt * stepMs) / dayMs), days);
  for (let written = raisedAt - 8; written < raisedAt + 8; written++) {
    const [before, restored] = [fresh(stepMs), fresh(stepMs)];
    for (let row = 0; row < written; row++) judge(before, row);
    readProfile(new StateReader(bytesOf((writer) => writeProfile(writer, before))), restored);
    judge(before, written);
    judge(restored, written);
    readProfileChange(new StateReader(bytesOf((writer) => writeProfileChange(writer, before))), restored);
    for (let row = written + 1; row < values.length; row++) {
      assert.deepEqual(judge(restored, row), judge(before, row), `written at ${written}, row ${row}`);
    }
    assert.deepEqual(restored, before);
  }
});

test('a profile whose level may have changed is restored with it, whole and by changes', () => {
  const valueAt = (ms: number) => (200 + 100 * Math.sin((2 * Math.PI * ms) / 86_400_000)) * (1 + 0.01 * Math.sin(ms));
  const [live, restored] = [fresh(), fresh()];
  const factorSlots = new Set<number>();
  for (let row = 0; row < 72 * 40; row++) {
    const isAway = row >= 72 * 21 && row < 72 * 25;
    trackSeason(live, row * STEP_MS, valueAt(row * STEP_MS) * (isAway ? 2 : 1), 0);
    const [write, read] = row % 72 === 5 ? [writeProfile, readProfile] : [writeProfileChange, readProfileChange];
    read(new StateReader(bytesOf((writer) => write(writer, live))), restored);
    assert.deepEqual(restored, live, `row ${row}`);
    factorSlots.add(live.floats[PROFILE_FLOATS.at.factorSlots]);
  }
  assert.ok(factorSlots.has(90));
  assert.equal(live.floats[PROFILE_FLOATS.at.factorSlots], 0);
});
