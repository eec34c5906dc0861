import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeAssignment,
  encodeAssignment,
  groupProtocols,
  readersOf,
} from '../../../../src/kafka/membership/group-protocol.ts';

const joined = (memberId: string, topic: string) => {
  const [{ metadata: memberMetadata }] = groupProtocols(topic, { generation: 3, owned: [1, 2] });
  return { memberId, memberMetadata };
};

test('only members that read the topic take part in the division of its partitions', () => {
  const members = [joined('a', 'loads'), joined('b', 'errors')];
  assert.deepEqual(readersOf('loads', members), [{ memberId: 'a', generation: 3, owned: [1, 2] }]);
});

test('a member learns its partitions from its assignment, or that its group reads another topic', () => {
  const { memberAssignment } = encodeAssignment('loads', 'a', [10, 2]);
  assert.deepEqual(decodeAssignment('loads', memberAssignment), { owned: [2, 10], otherTopic: null });
  assert.deepEqual(decodeAssignment('errors', memberAssignment), { owned: [], otherTopic: 'loads' });
  const idle = encodeAssignment('loads', 'b', []).memberAssignment;
  assert.deepEqual(decodeAssignment('loads', idle), { owned: [], otherTopic: null });
});
