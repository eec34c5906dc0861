import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlineWatch, type UnderWatch } from '../../../../src/engine/arrival/deadline-watch.ts';
import { fc } from '../../../fixture/fast-check.ts';

interface Watched extends UnderWatch {
  deadline: number;
}

const unit = (key: string, deadline: number): Watched => ({ key, watches: 0, deadline });
const deadlineOf = ({ deadline }: Watched) => deadline;
const keysOf = (units: readonly Watched[]) => units.map(({ key }) => key);

test('units are due once their deadline has passed, the earliest first, whoever moves meanwhile', () => {
  const step = fc.record({ passes: fc.nat(40), moved: fc.array(fc.nat(19), { maxLength: 8 }), by: fc.nat(100) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isFar) => {
      const units = Array.from({ length: 20 }, (_, i) => unit(String(i).padStart(2, '0'), 10 + 7 * i));
      const watch = new DeadlineWatch<Watched>(2, deadlineOf, isFar ? () => units : null);
      for (const each of units) watch.watch(each);
      const left = new Set(units);
      let nowMs = 0;
      for (const { passes, moved, by } of steps) {
        nowMs += passes;
        for (const i of moved) units[i].deadline += by;
        const due = [...left].filter(({ deadline }) => deadline < nowMs);
        due.sort((a, b) => a.deadline - b.deadline || (a.key < b.key ? -1 : 1));
        if (due.length > 0) assert.ok(watch.isDue(nowMs));
        assert.deepEqual(keysOf(watch.popDue(nowMs)), keysOf(due));
        for (const one of due) {
          left.delete(one);
          if (by % 2 === 0) continue;
          one.deadline = nowMs + by;
          watch.watch(one);
          left.add(one);
        }
      }
    }),
  );
});

test('units are looked at a few times in the time that their records move a deadline by, not with every record', () => {
  const units = Array.from({ length: 100 }, (_, i) => unit(String(i), 1_000 + i));
  let looks = 0;
  const all = () => {
    looks++;
    return units;
  };
  const watch = new DeadlineWatch<Watched>(1, deadlineOf, all);
  for (const each of units) watch.watch(each);
  for (let nowMs = 0; nowMs < 100_000; nowMs++) {
    units[nowMs % 100].deadline = nowMs + 1_000;
    assert.deepEqual(watch.popDue(nowMs), []);
  }
  assert.ok(looks <= 200, `${looks} looks`);
});

test('a unit without a finite deadline is watched once it has one', () => {
  const [silent, other] = [unit('silent', 10), unit('other', 1_000)];
  const watch = new DeadlineWatch<Watched>(1, deadlineOf, () => [silent, other]);
  watch.watch(silent);
  watch.watch(other);
  silent.deadline = Number.POSITIVE_INFINITY;
  assert.deepEqual(watch.popDue(500), []);
  silent.deadline = 600;
  watch.watch(silent);
  assert.deepEqual(keysOf(watch.popDue(700)), ['silent']);
});

test('units that are gone are not due', () => {
  const units = [unit('a', 10), unit('b', 20), unit('c', 30)];
  const watch = new DeadlineWatch<Watched>(1, deadlineOf, () => units);
  for (const each of units) watch.watch(each);
  assert.deepEqual(keysOf(watch.popDue(11)), ['a']);
  const [gone] = units.splice(1, 1);
  watch.keepOnly((one) => one !== gone);
  assert.deepEqual(keysOf(watch.popDue(100)), ['c']);
});
