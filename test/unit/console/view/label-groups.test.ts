import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupChoices, groupsBy, labelledEvent, labelledSeries } from '../../../../src/console/view/label-groups.ts';
import { seen } from '../../../fixture/console/seen-event.ts';

const series = (id: string, detector = 'hosts') => ({ series: id, detector });
const ALL = [
  series('cpu{host="web-2",team="shop"}'),
  series('cpu{host="db-1"}'),
  series('cpu{host="web-1",team="auth"}'),
  series('cpu{host="web-3",team="shop"}', 'web'),
];

test('a list is grouped by the values of a label, in the order of the first items', () => {
  const groups = groupsBy(ALL, 'label.team', labelledSeries);
  const actual = groups.map(({ name, items }) => [name, items.length]);
  assert.deepEqual(actual, [
    ['team=shop', 2],
    ['no team', 1],
    ['team=auth', 1],
  ]);
  const names = groupsBy(ALL, 'detector', labelledSeries).map(({ name }) => name);
  assert.deepEqual(names, ['detector=hosts', 'detector=web']);
  assert.deepEqual(groupsBy(ALL, '', labelledSeries), [{ name: null, items: ALL }]);
});

test('labels that are shown can be chosen, and the chosen one stays', () => {
  const keys = (chosen: string) => groupChoices(ALL.map(labelledSeries), chosen).map(([key]) => key);
  assert.deepEqual(keys(''), ['detector', 'label.__name__', 'label.host', 'label.team']);
  assert.deepEqual(keys('label.zone'), [...keys(''), 'label.zone']);
});

test('an event has the labels of its series before those of its detector', () => {
  const event = seen({ labels: { team: 'all', tier: '1' }, seriesLabels: { team: 'shop' } });
  assert.deepEqual(labelledEvent(event), { detector: 'web', labels: { team: 'shop', tier: '1' } });
  assert.equal(groupsBy([event], 'label.constructor', labelledEvent)[0].name, 'no constructor');
});
