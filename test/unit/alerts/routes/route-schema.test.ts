import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWithin } from '../../../../src/time/local-times.ts';
import { routesOf } from '../../../fixture/alerts/routes.ts';

function windowOf(window: string): (time: string) => boolean {
  const { routes } = routesOf(`
receivers: [{ name: hook, webhook: { url: "https://example.com" } }]
mute_windows: [{ name: w, ${window} }]
routes: [{ name: all, receivers: hook, mute: w }]`);
  const [{ times }] = routes[0].mute;
  return (time) => isWithin(times, Date.parse(time));
}

test('a window over midnight covers both of its days, in local time', () => {
  const covers = windowOf('time_zone: Europe/Berlin, days: fri, from: "22:00", to: "06:00"');
  assert.ok(!covers('2026-01-09T20:59:00Z'));
  assert.ok(covers('2026-01-09T21:00:00Z'));
  assert.ok(covers('2026-01-10T04:59:59Z'));
  assert.ok(!covers('2026-01-10T05:00:00Z'));
  assert.ok(!covers('2026-01-10T21:00:00Z'));
  // Summer time: an hour earlier.
  assert.ok(covers('2026-07-10T20:00:00Z'));
  assert.ok(!covers('2026-07-11T04:00:00Z'));
});

test('dates are those of one year or of every year, and without hours the whole day is meant', () => {
  const covers = windowOf('time_zone: UTC, dates: [12-24, 2026-12-26]');
  assert.ok(covers('2027-12-24T23:59:00Z'));
  assert.ok(covers('2026-12-26T00:00:00Z'));
  assert.ok(!covers('2027-12-26T12:00:00Z'));
  assert.ok(!covers('2026-12-25T12:00:00Z'));
});
