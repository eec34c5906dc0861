import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addShares,
  EVENT_MEMBERS_MAX,
  NO_SHARES,
  sharesOf,
} from '../../../../../src/detection/event/open/member-shares.ts';
import { fc } from '../../../../fixture/fast-check.ts';

const rowOf = (shown: readonly number[]) => shown.map((sharp, member) => ({ series: `m${member}`, sharp }));

test('shares of few members are exact, the largest first', () => {
  const shares = [rowOf([1, 4]), rowOf([2, 3])].reduce(addShares, NO_SHARES);
  assert.deepEqual(sharesOf(shares), [
    { series: 'm1', share: 0.7 },
    { series: 'm0', share: 0.3 },
  ]);
  assert.deepEqual(sharesOf(NO_SHARES), []);
  assert.deepEqual(sharesOf(addShares(NO_SHARES, rowOf([0, 0]))), []);
});

test('of many members so many are kept, and none that showed more than its part is missed', () => {
  const rows = fc.array(fc.array(fc.double({ min: 0, max: 50, noNaN: true }), { minLength: 40, maxLength: 40 }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(rows, fc.nat(39), (shown, loud) => {
      const all = shown.map((row) => rowOf(row.map((sharp, member) => (member === loud ? 400 : sharp))));
      const shares = sharesOf(all.reduce(addShares, NO_SHARES));
      assert.ok(shares.length <= EVENT_MEMBERS_MAX);
      assert.equal(shares[0].series, `m${loud}`);
      assert.ok(shares.every(({ share }, i) => share <= 1 && (i === 0 || share <= shares[i - 1].share)));
    }),
  );
});
