import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DepartedMember } from '../../../../src/checkpoint/group-state.ts';
import { GroupChanges } from '../../../../src/checkpoint/pending-steps.ts';
import { emptyProfile, PROFILE_DOUBLES, profileLayout } from '../../../../src/detection/profile/profile-layout.ts';
import { forgetDeparted } from '../../../../src/engine/group/departed-members.ts';
import { makeRoom } from '../../../../src/engine/group/group-room.ts';
import { previousDetector } from '../../../../src/engine/unit/loaded-detector.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const LAYOUT = profileLayout(UTC_CALENDAR, 3_600_000)!;

/** It learned from `sinceMs` to `atMs`. */
function departedAt(sinceMs: number, atMs: number): DepartedMember {
  const profile = emptyProfile(LAYOUT);
  profile.doubles[PROFILE_DOUBLES.at.firstMs] = sinceMs;
  return { profile, atMs };
}

test('a departed member is remembered for as long as it had learned, and never beyond the idle limit', () => {
  const keptUntil = (nowMs: number, idleMs: number | null) => {
    const departed = new Map([
      ['short', departedAt(90, 100)],
      ['long', departedAt(0, 100)],
    ]);
    forgetDeparted(departed, nowMs, streamSettings({ idleMs }));
    return [...departed.keys()];
  };
  assert.deepEqual(keptUntil(110, null), ['short', 'long']);
  assert.deepEqual(keptUntil(111, null), ['long']);
  assert.deepEqual(keptUntil(200, null), ['long']);
  assert.deepEqual(keptUntil(201, null), []);
  assert.deepEqual(keptUntil(150, 50), ['long']);
  assert.deepEqual(keptUntil(151, 50), []);
});

test('departed members give way to a new one, the first to leave first', () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `pod-${i}`);
  const departed = new Map(names.map((name) => [name, departedAt(0, 1)]));
  const changes = new GroupChanges();
  const group = { members: [], joining: new Map<string, number>(), pending: [], departed, changes };
  const loaded = previousDetector('', streamSettings());
  changes.writtenAt(5);
  makeRoom(group, 'new', loaded);
  assert.deepEqual([...departed.keys()], names.slice(1));
  assert.equal(changes.written, -1, 'the state is written whole');
  changes.writtenAt(6);
  makeRoom(group, 'new', loaded);
  assert.deepEqual([departed.size, changes.written], [999, 6], 'there is room');
});
