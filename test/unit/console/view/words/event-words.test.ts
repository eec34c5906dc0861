import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressOf,
  distanceText,
  farOutText,
  hostOf,
  isOfGroup,
  kindName,
  subjectName,
  whyFlagged,
  widthsOut,
  worstFirst,
} from '../../../../../src/console/view/words/event-words.ts';
import { momentText } from '../../../../../src/console/view/words/value-words.ts';
import { seen } from '../../../../fixture/console/seen-event.ts';

const NOW = Date.UTC(2026, 4, 1, 14);

test('what is unusual on average alone is described by its summary, and a range in widths of it', () => {
  const beyond = { value: 99, expected: 42, lo: 38, hi: 46 };
  const of = (usual: string) =>
    whyFlagged(seen({ ...beyond, summary: `Level shift up: 99, higher (usually ${usual})` }), NOW);
  assert.match(of('around 42')[1], /^Its grade was /);
  assert.equal(of('38 to 46')[1], 'The peak is 6.6x the width of this interval outside it.');
});

test('a peak beyond the interval is measured in widths of the interval, on both sides', () => {
  assert.equal(widthsOut({ value: 20, lo: 8, hi: 12 }), 2);
  assert.equal(widthsOut({ value: 2, lo: 8, hi: 12 }), 1.5);
  assert.equal(widthsOut({ value: 9, lo: 8, hi: 12 }), 0);
  assert.equal(widthsOut({ value: 9, lo: null, hi: 12 }), null);
  assert.equal(widthsOut({ value: 9, lo: 12, hi: 12 }), null);
});

test('a distance is a percentage only where that means something', () => {
  assert.equal(distanceText({ value: 162, expected: 100 }), '+62 %');
  assert.equal(distanceText({ value: 38, expected: 100 }), '−62 %');
  assert.equal(distanceText({ value: 5, expected: 0 }), '+5');
  assert.equal(distanceText({ value: -5, expected: 100 }), '−105');
  assert.equal(distanceText({ value: 5_000, expected: 1 }), '+4,999');
  assert.equal(distanceText({ value: null, expected: 1 }), '–');
});

test('what nobody looks after comes first, then what is acknowledged, then what is muted', () => {
  const mutedUntil = (until: number) => ({ at: 0, by: 'ops', until, reason: 'known', mute_id: null });
  const mild = seen({ eventId: 'mild', severity: 1 });
  const bad = seen({ eventId: 'bad', severity: 9 });
  const taken = seen({ eventId: 'taken', severity: 99, acknowledged: { at: NOW, by: 'ops', note: null } });
  const muted = seen({ eventId: 'muted', severity: 999, muted: mutedUntil(NOW + 1) });
  const returned = seen({ eventId: 'returned', severity: 5, muted: mutedUntil(NOW - 1) });
  const sorted = worstFirst([muted, taken, mild, bad, returned], NOW).map(({ eventId }) => eventId);
  assert.deepEqual(sorted, ['bad', 'returned', 'mild', 'taken', 'muted']);
});

test('the reasons name what was seen, what was usual, and for how long', () => {
  const event = seen({
    startedAtMs: NOW - 3_660_000,
    value: 99,
    expected: 42,
    lo: 38,
    hi: 46,
    unusual: 'highest in 9 days',
  });
  assert.deepEqual(whyFlagged(event, NOW), [
    'Spike up: 99 where 42 was expected.',
    'Usual then: 38 to 46; the peak is 6.6x the width of this interval outside it.',
    'Highest in 9 days.',
    'Its grade was 0.90; most series reach 0.5 once in 1,000 observations.',
    'It has been open for 1 h 1 min, with 3 alarms in 4 observations.',
  ]);
});

test('what the summary of an event contains is not repeated', () => {
  const event = seen({
    summary: 'Spike up: 99 where 42 was expected, highest in 9 days',
    unusual: 'highest in 9 days',
  });
  assert.equal(whyFlagged(event, NOW).filter((sentence) => /highest in 9 days/i.test(sentence)).length, 1);
});

test('missing observations are not counted, a peak at the edge has no width, and times are those of the page', () => {
  const nothing = { value: null, expected: null, lo: null, hi: null, grade: null };
  const summary = 'Silence: no value where one was due, since 2026-05-01 09:00 UTC';
  const silence = whyFlagged(seen({ kind: 'silence', summary, ...nothing }), NOW);
  const since = momentText(Date.UTC(2026, 4, 1, 9)).slice(0, 16);
  assert.deepEqual(silence, [`Silence: no value where one was due, since ${since}.`, 'It has been open for 2 h.']);
  const edge = seen({ value: 46.1, lo: 38, hi: 46, summary: 'Drift up: 46.1, higher (usually 38 to 46)' });
  assert.match(whyFlagged(edge, NOW)[1], /^Its grade was /);
});

test('every event has a page of its own', () => {
  assert.equal(addressOf(seen({ eventId: '0/1' })), '#/events/0%2F1');
});

test('a kind of a later version has its own name', () => {
  assert.equal(kindName('level_shift'), 'level shift');
  assert.equal(kindName('time_warp'), 'time warp');
});

test('a host is what precedes the last slash or colon', () => {
  assert.deepEqual(['web-1/cpu', 'dc/web-1/cpu', 'job:cpu', 'cpu', '/cpu'].map(hostOf), [
    'web-1/',
    'dc/web-1/',
    'job:',
    null,
    null,
  ]);
});

test('a pause of a detector is named after it, and described as no data', () => {
  const nothing = { value: null, expected: null, lo: null, hi: null };
  const pause = seen({ series: null, kind: 'silence', seriesCount: 40, ...nothing });
  assert.equal(subjectName(pause), 'detector web');
  assert.equal(isOfGroup(pause), false);
  assert.equal(farOutText(pause), 'no data');
});
