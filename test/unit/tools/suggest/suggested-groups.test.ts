import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDetectorsFile } from '../../../../src/config/detectors-file.ts';
import { SeriesColumns } from '../../../../src/tools/suggest/series-columns.ts';
import { suggestedGroups } from '../../../../src/tools/suggest/suggested-groups.ts';
import { suggest } from '../../../../src/tools/suggest/suggestion.ts';
import { suggestionText } from '../../../../src/tools/suggest/suggestion-text.ts';

const MIN = 60_000;

function suggestionOf(series: readonly string[]) {
  const columns = new SeriesColumns(1_000_000);
  series.forEach((id, at) => {
    for (let i = 0; i < 300; i++) columns.add(id, 1_767_225_600_000 + i * 5 * MIN, 10 + Math.sin(i * 12.9898 + at) * 4);
  });
  return suggest(columns);
}

const HOSTS = ['a', 'b', 'c'].flatMap((host) => [
  `load{instance="${host}",job="node"}`,
  `memory{instance="${host}",job="node"}`,
  `queue{job="shop",shard="${host}"}`,
]);

test('detectors whose series have the same values of a label could be groups of it', () => {
  const { detectors } = suggestionOf(HOSTS);
  const [group, ...more] = suggestedGroups(detectors);
  assert.deepEqual(more, []);
  assert.deepEqual([group.label, group.values], ['instance', 3]);
  assert.deepEqual(group.detectors.map(({ name }) => name).sort(), ['load', 'memory']);
});

test('what has no label in common is no group', () => {
  assert.deepEqual(suggestedGroups(suggestionOf(['a{x="1"}', 'a{x="2"}', 'b{y="1"}', 'b{y="2"}', 'c']).detectors), []);
});

test('a group that is suggested is a detector, once it is no comment any more', () => {
  const suggestion = suggestionOf(HOSTS);
  const context = {
    command: 'suggest',
    sources: [],
    timeZone: 'UTC',
    holidays: { places: [], contradicted: [] },
  };
  const text = suggestionText(suggestion, context);
  const [, comment] = text.split('for all of a value:\n');
  const problems: string[] = [];
  const file = readDetectorsFile('d', `detectors:\n${comment.replaceAll('  # ', '  ')}`, problems);
  assert.deepEqual(problems, []);
  const read = file!.stream.detectors.map(({ name, by }) => [name, by]);
  assert.deepEqual(read, [['by-instance', ['instance']]]);
});
