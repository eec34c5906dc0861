import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRecordPath } from '../../../src/codecs/observations/record-path.ts';
import { recordPath } from '../../../src/config/schema/kinds.ts';
import { fc } from '../../fixture/fast-check.ts';

test('the configuration accepts exactly the paths that the decoder can read', () => {
  const piece = fc.constantFrom(
    'a',
    'b1',
    '.',
    '$',
    '[0]',
    '[',
    ']',
    '"x.y"',
    "['z']",
    '["q\\""]',
    ' ',
    '_',
    '..',
    '"',
    "'",
    '[12345678]',
    '\\',
    'é',
  );
  const path = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(path, fc.string()), (text) => {
      assert.equal(recordPath.parse(text) === text, parseRecordPath(text) !== null, JSON.stringify(text));
    }),
    { numRuns: 2_000 },
  );
});
