import assert from 'node:assert/strict';
import { test } from 'node:test';
import { muteScopes } from '../../../../../src/console/view/words/mute-words.ts';
import { seen } from '../../../../fixture/console/seen-event.ts';

test('an event is muted alone, or with its series, one of its labels, or its detector', () => {
  const event = seen({ series: 'cpu{host="web-1"}', seriesLabels: { __name__: 'cpu', host: 'web-1' } });
  assert.deepEqual(muteScopes(event), [
    { name: 'this event', mute: null },
    { name: 'the series cpu{host="web-1"}', mute: { match: 'cpu{host="web-1"}' } },
    { name: 'all of __name__=cpu', mute: { match: '{__name__="cpu"}' } },
    { name: 'all of host=web-1', mute: { match: '{host="web-1"}' } },
    { name: 'the detector web', mute: { detector: 'web' } },
  ]);
});

test('a pause of a detector is muted alone or with its detector', () => {
  const names = muteScopes(seen({ series: null, seriesCount: 40 })).map(({ name }) => name);
  assert.deepEqual(names, ['this event', 'the detector web']);
});
