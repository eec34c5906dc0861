import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupIdOf, isIdTemplate, seriesIdentity } from '../../../../src/records/series/series-identity.ts';

test('a series is its own where no label is dropped and there is no template', () => {
  assert.equal(seriesIdentity({}), null);
});

test('labels that are dropped are in neither the id nor the labels', () => {
  const identity = seriesIdentity({ dropLabels: ['replica'] })!('up{job="a",replica="1"}');
  assert.deepEqual(identity, { id: 'up{job="a"}', source: 'up{job="a"}' });
});

test('a template makes the id, a missing label is empty', () => {
  const identityOf = seriesIdentity({ dropLabels: ['replica'], idTemplate: '{job}/{__name__}:{replica}' })!;
  assert.deepEqual(identityOf('up{job="a",replica="1"}'), { id: 'a/up:', source: 'up{job="a"}' });
  assert.deepEqual(identityOf('plant/line-7'), { id: '/plant/line-7:', source: 'plant/line-7' });
  assert.equal(identityOf(identityOf('up{job="a",replica="1"}').source).id, 'a/up:');
});

test('a template has at least one label in braces, and no other braces', () => {
  for (const text of ['{job}', 'x{job}y{instance}']) assert.ok(isIdTemplate(text), text);
  for (const text of ['', 'job', '{}', '{job', 'job}', '{{job}}', '{job}}']) assert.ok(!isIdTemplate(text), text);
});

test('a group is named by the labels that make it', () => {
  assert.equal(groupIdOf('up{instance="a",job="b",zone="c"}', ['zone', 'instance']), '{instance="a",zone="c"}');
  assert.equal(groupIdOf('up{job="b"}', ['__name__', 'instance']), 'up');
  assert.equal(groupIdOf('up{job="b"}', ['instance']), '{}');
  assert.equal(groupIdOf('up{__proto__="b"}', ['constructor', '__proto__']), '{__proto__="b"}');
});
