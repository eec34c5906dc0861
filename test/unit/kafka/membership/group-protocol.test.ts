import assert from 'node:assert/strict';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import {
  assignedPartitions,
  encodeAssignment,
  groupProtocols,
  readersOf,
} from '../../../../src/kafka/membership/group-protocol.ts';

const joined = (memberId: string, topic: string) => {
  const [{ metadata }] = groupProtocols(topic, { generation: 3, owned: [1, 2] });
  return { memberId, metadata };
};

test('only members that read the topic take part in the division of its partitions', () => {
  const members = [joined('a', 'loads'), joined('b', 'errors')];
  assert.deepEqual(readersOf('loads', members), [{ memberId: 'a', generation: 3, owned: [1, 2] }]);
});

test('a member learns its partitions from its assignment, or that its group reads another topic', () => {
  const { assignment } = encodeAssignment('loads', 'a', [10, 2]);
  assert.deepEqual(assignedPartitions('loads', assignment), { owned: [2, 10], otherTopic: null });
  assert.deepEqual(assignedPartitions('errors', assignment), { owned: [], otherTopic: 'loads' });
  const idle = encodeAssignment('loads', 'b', []).assignment;
  assert.deepEqual(assignedPartitions('loads', idle), { owned: [], otherTopic: null });
});

test('the members of other clients understand it, and are understood', () => {
  const { MemberMetadata, MemberAssignment } = kafkajs.AssignerProtocol;
  const [{ metadata }] = groupProtocols('loads', { generation: 3, owned: [1] });
  const { topics, userData } = MemberMetadata.decode(metadata)!;
  assert.deepEqual([topics, String(userData)], [['loads'], '{"generation":3,"owned":[1]}']);
  const other = { version: 1, topics: ['loads'], userData: Buffer.alloc(0) };
  const stranger = { memberId: 'b', metadata: MemberMetadata.encode(other) };
  assert.deepEqual(readersOf('loads', [stranger]), [{ memberId: 'b', generation: -1, owned: [] }]);
  const { assignment } = encodeAssignment('loads', 'a', [10, 2]);
  assert.deepEqual(MemberAssignment.decode(assignment)?.assignment, { loads: [10, 2] });
  const theirs = MemberAssignment.encode({ version: 0, assignment: { loads: [3] }, userData: Buffer.alloc(0) });
  assert.deepEqual(assignedPartitions('loads', theirs), { owned: [3], otherTopic: null });
});
