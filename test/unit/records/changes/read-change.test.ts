import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGE_LIMITS } from '../../../../src/records/changes/change-limits.ts';
import { readChange } from '../../../../src/records/changes/read-change.ts';

const NOW = Date.UTC(2026, 4, 1);

function changeOf(written: object) {
  const read = readChange(written, NOW);
  assert.ok(read.kind === 'change', JSON.stringify(read));
  return read.change;
}

function fieldsOf(written: unknown): readonly string[] {
  const read = readChange(written, NOW);
  return read.kind === 'problems' ? read.problems.map(({ field }) => field) : [];
}

test('an annotation as clients of Grafana write it is a change that concerns all', () => {
  const written = {
    dashboardUID: 'jcIIG-07z',
    panelId: 2,
    time: 1_507_037_197_339,
    timeEnd: 1_507_180_805_056,
    tags: ['deploy', 'web'],
    text: 'deploy web 4.2',
  };
  const { id, ...change } = changeOf(written);
  assert.match(id, /^[0-9a-f]{32}$/);
  const { dashboardUID: _, panelId: __, ...kept } = written;
  assert.deepEqual(change, { ...kept, labels: {}, series: null, link: null });
});

test('what is left out, or null, has a default: now, no end, and an id of its content', () => {
  const change = changeOf({ text: 'deploy', link: null });
  assert.deepEqual([change.time, change.timeEnd, change.tags, change.link], [NOW, null, [], null]);
  assert.equal(changeOf({ text: 'deploy' }).id, change.id, 'a repetition is the same change');
  assert.equal(
    changeOf({ text: 'deploy', labels: { a: 'b', c: 'd' } }).id,
    changeOf({ text: 'deploy', labels: { c: 'd', a: 'b' } }).id,
  );
  assert.notEqual(changeOf({ text: 'deploy 2' }).id, change.id);
  assert.deepEqual([changeOf({ text: 'a', id: 17 }).id, changeOf({ text: 'a', id: 'v4.2' }).id], ['17', 'v4.2']);
  assert.equal(changeOf({ text: 'a', time: NOW, timeEnd: NOW }).timeEnd, null, 'as Grafana writes a moment');
});

test('a time in seconds or microseconds was one of January 1970, or of the year 58,000, and shown nowhere', () => {
  for (const time of [NOW / 1_000, NOW * 1_000]) {
    assert.deepEqual(fieldsOf({ text: 'a', time, timeEnd: time }), ['time', 'timeEnd']);
  }
});

test('clients that write 0 for what they leave out, as Grafana takes it, reported changes of 1970', () => {
  const { time, timeEnd } = changeOf({ id: 0, text: 'a', time: 0, timeEnd: 0 });
  assert.deepEqual([time, timeEnd], [NOW, null]);
});

test('what is wrong is named, all of it', () => {
  assert.deepEqual(fieldsOf({}), ['text']);
  assert.deepEqual(fieldsOf([]), ['']);
  assert.deepEqual(fieldsOf(null), ['']);
  const wrong = {
    id: '',
    time: '2026-05-01',
    timeEnd: -1,
    text: ' ',
    tags: 'deploy',
    labels: { a: 1 },
    link: 'javascript:alert(1)',
    label: {},
    series: '{not',
  };
  assert.deepEqual(fieldsOf(wrong), ['id', 'time', 'timeEnd', 'text', 'tags', 'labels', 'link', 'label', 'series']);
  assert.deepEqual(fieldsOf({ text: 'a', time: NOW, timeEnd: NOW - 1 }), ['timeEnd']);
  assert.deepEqual(fieldsOf({ text: 'half a \ud83d', id: '\ud83d' }), ['id', 'text']);
  for (const time of [1.5, 8_640_000_000_000_001, Number.NaN])
    assert.deepEqual(fieldsOf({ text: 'a', time }), ['time']);
});

test('what is longer than its limit is refused', () => {
  const { textCharactersMax, tagsMax, labelsMax, linkCharactersMax, seriesCharactersMax, idCharactersMax } =
    CHANGE_LIMITS;
  const labels = Object.fromEntries(Array.from({ length: labelsMax + 1 }, (_, i) => [`l${i}`, 'x']));
  assert.deepEqual(
    fieldsOf({
      id: 'x'.repeat(idCharactersMax + 1),
      text: 'x'.repeat(textCharactersMax + 1),
      tags: Array.from({ length: tagsMax + 1 }, () => 'x'),
      labels,
      link: `https://example.com/${'x'.repeat(linkCharactersMax)}`,
      series: 'x'.repeat(seriesCharactersMax + 1),
    }),
    ['id', 'text', 'tags', 'labels', 'link', 'series'],
  );
});
