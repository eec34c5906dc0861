import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlaidName, overlayChoices, sharesAxis } from '../../../../src/console/view/overlay.ts';
import { seriesPattern } from '../../../../src/series/series-pattern.ts';

const CPU = 'cpu{host="web-1",job="shop"}';

test('a series is compared with those that have a label, its group or its detector in common', () => {
  const choices = overlayChoices({ series: CPU, detector: 'hosts', group: 'shop' });
  assert.deepEqual(
    choices.map(({ key, name }) => [key, name]),
    [
      ['label.__name__', '__name__=cpu'],
      ['label.host', 'host=web-1'],
      ['label.job', 'job=shop'],
      ['group', 'group shop'],
      ['detector', 'detector hosts'],
    ],
  );
  assert.deepEqual(
    choices.map(({ query }) => query),
    [
      { match: '{__name__="cpu"}' },
      { match: '{host="web-1"}' },
      { match: '{job="shop"}' },
      { group: 'shop' },
      { detector: 'hosts' },
    ],
  );
});

test('an id without labels has its detector in common with others alone', () => {
  const choices = overlayChoices({ series: 'web-1/cpu', detector: 'hosts', group: null });
  assert.deepEqual(choices, [{ key: 'detector', name: 'detector hosts', query: { detector: 'hosts' } }]);
});

test('labels of any text choose their series', () => {
  for (const value of ['a"b\\c', '{x}', 'a b,c=d']) {
    const series = `cpu{${JSON.stringify('the label')}=${JSON.stringify(value)}}`;
    const match = overlayChoices({ series, detector: 'hosts', group: null })[1].query.match ?? '';
    assert.deepEqual([seriesPattern([match]).test(series), seriesPattern([match]).test(CPU)], [true, false], match);
  }
});

test('series of other metrics have scales of their own', () => {
  assert.equal(sharesAxis(CPU, 'cpu{host="web-2",job="shop"}'), true);
  assert.equal(sharesAxis(CPU, 'bytes{host="web-1",job="shop"}'), false);
  assert.equal(sharesAxis('web-1/cpu', 'web-2/cpu'), true);
});

test('a legend names what differs', () => {
  assert.equal(overlaidName(CPU, 'cpu{host="web-2",job="shop"}'), 'host=web-2');
  assert.equal(overlaidName(CPU, 'bytes{host="web-1",job="shop"}'), 'bytes');
  assert.equal(overlaidName('web-1/cpu', 'web-2/cpu'), 'web-2/cpu');
});
