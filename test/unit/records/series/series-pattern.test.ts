import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternProblem, seriesPattern } from '../../../../src/records/series/series-pattern.ts';

test('a text with a brace in front is matchers of the labels that the id shows, any other one a glob', () => {
  const pattern = seriesPattern(['{__name__="up", job=~"web-.*"}', 'plant/*']);
  assert.equal(pattern.test('up{job="web-1"}'), true);
  assert.equal(pattern.test('up{job="db"}'), false);
  assert.equal(pattern.test('plant/line-7'), true);
  assert.equal(seriesPattern(['{__name__="plant/line-7"}']).test('plant/line-7'), true);
  assert.equal(seriesPattern(['up{*}']).test('up{job="db"}'), true);
});

test('labels that are given count instead of those of the id', () => {
  const pattern = seriesPattern(['{job="db"}']);
  assert.equal(pattern.test('short', { job: 'db' }), true);
  assert.equal(pattern.test('up{job="db"}', {}), false);
});

test('matchers that cannot be read have a problem, and cannot be compiled', () => {
  assert.equal(patternProblem('*'), null);
  assert.equal(patternProblem('{job="a"}'), null);
  assert.match(patternProblem('{job}') ?? '', /^matchers such as/);
  assert.throws(() => seriesPattern(['{job}']), RangeError);
});
