import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoreLabels } from '../../../../src/pipelines/remote-write/score-labels.ts';
import { labelsOfId } from '../../../../src/records/series/series-id.ts';

const OWN = { detector: 'load', group: null };
const labelsOf = (id: string) => Object.fromEntries(scoreLabels(labelsOfId(id), OWN));

test('labels of a series become labels, its name the label metric, in the order of their names', () => {
  const labels = scoreLabels(labelsOfId('node_load1{instance="a:9100",job="node"}'), { ...OWN, group: 'hosts' });
  assert.deepEqual(labels, [
    ['detector', 'load'],
    ['group', 'hosts'],
    ['instance', 'a:9100'],
    ['job', 'node'],
    ['metric', 'node_load1'],
  ]);
});

test('an id of a producer of its own is the metric, and an event of a detector has none', () => {
  assert.deepEqual(labelsOf('web-1/cpu'), { detector: 'load', metric: 'web-1/cpu' });
  assert.deepEqual(Object.fromEntries(scoreLabels({}, OWN)), { detector: 'load' });
});

test('names become valid ones, and labels whose names become one are joined', () => {
  const id = '{"x","__secret"="s","1st"="1","a-b"="p","a.b"="q"}';
  assert.deepEqual(labelsOf(id), { detector: 'load', metric: 'x', _secret: 's', _1st: '1', a_b: 'p;q' });
});

test('labels of a series that are named like those of a score are exported, and none is lost', () => {
  const id = 'x{detector="d",exported_detector="e",group="g",metric="m"}';
  assert.deepEqual(labelsOf(id), {
    detector: 'load',
    metric: 'x',
    exported_detector: 'd',
    exported_exported_detector: 'e',
    exported_group: 'g',
    exported_metric: 'm',
  });
});
