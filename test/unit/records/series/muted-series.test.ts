import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutingOf } from '../../../../src/records/series/muted-series.ts';

const mute = (match: string | null, detector: string | null = null, untilMs = 100) => ({ match, detector, untilMs });
const event = (series: string | null, changes: object = {}) => {
  return { series, group: null, detector: 'hosts', seriesLabels: {}, ...changes };
};
const isMuted = (by: ReturnType<typeof mute>, of: ReturnType<typeof event>, nowMs = 50) =>
  mutingOf([by])(of, nowMs) !== undefined;

test('series are muted by their ids, globs and labels, until the end of the mute', () => {
  const cpu = event('cpu{host="web-1"}');
  for (const match of ['cpu{host="web-1"}', 'cpu*', '{host=~"web-.*"}']) assert.equal(isMuted(mute(match), cpu), true);
  for (const match of ['cpu', '{host="web-2"}']) assert.equal(isMuted(mute(match), cpu), false);
  assert.equal(isMuted(mute('cpu*'), cpu, 99), true);
  assert.equal(isMuted(mute('cpu*'), cpu, 100), false);
});

test('labels that an id hides are those of the event', () => {
  assert.equal(isMuted(mute('{team="shop"}'), event('web-1', { seriesLabels: { team: 'shop' } })), true);
});

test('a pause of a detector is muted by its detector, not by series', () => {
  const pause = event(null);
  assert.equal(isMuted(mute(null, 'hosts'), pause), true);
  assert.equal(isMuted(mute('*'), pause), false);
  assert.equal(isMuted(mute('*', 'hosts'), pause), false);
});

test('of series and detector both must hold, and groups are muted as series are', () => {
  assert.equal(isMuted(mute('web-*', 'hosts'), event('web-1')), true);
  assert.equal(isMuted(mute('web-*', 'shops'), event('web-1')), false);
  assert.equal(isMuted(mute('shop*'), event(null, { group: 'shop-eu' })), true);
});

test('the first mute that fits is the one that is named', () => {
  const mutes = [mute('db-*'), mute('web-*'), mute('*')];
  assert.equal(mutingOf(mutes)(event('web-1'), 0), mutes[1]);
  assert.equal(mutingOf([])(event('web-1'), 0), undefined);
});
