import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvField, spreadsheetField } from '../../../../src/records/text/csv-field.ts';

test('a text is quoted where commas, quotes, ends of lines or outer spaces ask for it', () => {
  assert.deepEqual(['a b', 'a,b', 'say "a"', 'a\nb', 'a\r', ' a', ''].map(csvField), [
    'a b',
    '"a,b"',
    '"say ""a"""',
    '"a\nb"',
    '"a\r"',
    '" a"',
    '',
  ]);
});

test('no text is a formula of a spreadsheet', () => {
  assert.deepEqual(['=1+1', '+a', '-a', '@a', '\ta', '=a,b', 'a=b'].map(spreadsheetField), [
    "'=1+1",
    "'+a",
    "'-a",
    "'@a",
    "'\ta",
    '"\'=a,b"',
    'a=b',
  ]);
});
