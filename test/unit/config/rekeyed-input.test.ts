import assert from 'node:assert/strict';
import { repartitionOf, scoredTopics } from '../../../src/config/rekeyed-input.ts';
import { streamConfig, TOPICS } from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const stream = streamConfig([]);
const rekeyed = { ...stream, groupId: 'my group', input: { ...stream.input, repartition: true } };

test('an input that is scored as it is has no topics of its own', () => {
  assert.equal(repartitionOf(stream), null);
  assert.deepEqual(scoredTopics(stream), TOPICS);
});

test('an input that is re-keyed is read by a group of its own, with names that Kafka takes', () => {
  assert.deepEqual(repartitionOf(rekeyed), {
    groupId: 'my group-repartition',
    topic: 'my-group-repartition',
    topics: {
      observations: TOPICS.observations,
      scores: 'my-group-repartition',
      events: 'my-group-repartition',
      changelog: 'my-group-repartition-changelog',
      deadLetters: TOPICS.deadLetters,
    },
  });
  assert.deepEqual(scoredTopics(rekeyed), { ...TOPICS, observations: 'my-group-repartition' });
});
