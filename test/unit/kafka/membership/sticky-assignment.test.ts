import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignSticky, type GroupMember, inOrderOfTaking } from '../../../../src/kafka/membership/sticky-assignment.ts';
import { fc } from '../../../fixture/fast-check.ts';

const member = (memberId: string, owned: readonly number[] = [], generation = 0): GroupMember => {
  return { memberId, generation, owned };
};
const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const plain = (assignment: ReturnType<typeof assignSticky>) => Object.fromEntries(assignment);

test('a member that joins takes what is fair, and the others keep the rest', () => {
  const assignment = assignSticky([member('a', [0, 2, 4]), member('b', [1, 3, 5]), member('c')], range(6));
  assert.deepEqual(plain(assignment), { a: [0, 2], b: [1, 3], c: [4, 5] });
});

test('the partitions of a member that left are divided, the others stay', () => {
  assert.deepEqual(plain(assignSticky([member('a', [0, 2]), member('b', [1])], range(5))), { a: [0, 2, 3], b: [1, 4] });
});

test('the successor of a killed member takes its partitions, not those that the others held before', () => {
  const survivor = inOrderOfTaking([4, 5, 6, 7], range(8));
  const assignment = assignSticky([member('survivor', survivor), member('successor')], range(8));
  assert.deepEqual(plain(assignment), { survivor: [4, 5, 6, 7], successor: [0, 1, 2, 3] });
  assert.deepEqual(inOrderOfTaking(survivor, [1, 2, 5, 9]), [5, 1, 2, 9]);
});

test('of two members that claim a partition the one of the newer generation has it', () => {
  const assignment = assignSticky([member('a', [0, 1], 3), member('b', [0, 1], 4)], range(2));
  assert.deepEqual(plain(assignment), { a: [1], b: [0] });
});

test('every partition has one owner, shares differ by one at most, and no partition moves without need', () => {
  const group = fc
    .record({ partitions: fc.integer({ min: 0, max: 40 }), members: fc.integer({ min: 1, max: 9 }) })
    .chain(({ partitions, members }) =>
      fc.record({
        partitions: fc.constant(range(partitions)),
        members: fc.constant(members),
        owners: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: partitions, maxLength: partitions }),
      }),
    );
  fc.assert(
    fc.property(group, ({ partitions, members, owners }) => {
      const joined = range(members).map((i) =>
        member(`m${i}`, partitions.filter((partition) => owners[partition] === i).reverse()),
      );
      const assignment = assignSticky(joined, partitions);
      const actual = [...assignment.values()].flat().sort((a, b) => a - b);
      assert.deepEqual(actual, partitions);
      const sizes = [...assignment.values()].map(({ length }) => length);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      const largest = Math.max(...sizes);
      for (const { memberId, owned } of joined) {
        const share = assignment.get(memberId)!;
        const kept = owned.filter((partition) => share.includes(partition)).length;
        assert.equal(kept, Math.min(owned.length, share.length));
        assert.ok(owned.slice(0, kept).every((partition) => share.includes(partition)));
        if (owned.length >= largest) assert.ok(share.length >= Math.min(...sizes));
      }
      assert.deepEqual(assignSticky([...joined].reverse(), [...partitions].reverse()), assignment);
    }),
  );
});
