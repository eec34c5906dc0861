import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writtenSections } from '../../../src/suggest/written-sections.ts';

test('wanted keys are taken with all of their lines, and others are left', () => {
  const text = [
    '# first',
    'topics:',
    '  observations: mine # not theirs',
    '',
    'output: { format: json }',
    'input: {',
    '  value: "a: b",',
    '}',
    '# about detectors',
    'detectors:',
    '- name: input',
    '  series: "*"',
  ].join('\r\n');
  assert.deepEqual(writtenSections(text, ['topics', 'input']), [
    'topics:',
    '  observations: mine # not theirs',
    'input: {',
    '  value: "a: b",',
    '}',
  ]);
  assert.deepEqual(writtenSections(text, ['worker']), []);
});
