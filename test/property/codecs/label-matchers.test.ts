import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMatchers, MATCH_OPERATORS, parseMatchers } from '../../../src/records/series/label-matcher.ts';
import { fc } from '../../fixture/fast-check.ts';

const part = fc.constantFrom('a', 'b', '-', '\n', '𝄞', '.*', '.+', '.', '|', '\\.', '\\|', '\\\\', '\\*');
const pattern = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
const value = fc
  .array(fc.constantFrom('a', 'b', '-', '\n', '𝄞', '.', '|', '\\', '*'), { maxLength: 8 })
  .map((letters) => letters.join(''));

test('a matcher matches what its regular expression matches, anchored at both ends', () => {
  fc.assert(
    fc.property(pattern, value, fc.constantFrom(...MATCH_OPERATORS), (pattern, value, operator) => {
      const read = parseMatchers(`{job${operator}${JSON.stringify(pattern)}}`);
      assert.ok(read.kind === 'matchers', JSON.stringify(read));
      const isPattern = operator.endsWith('~');
      const same = isPattern ? new RegExp(`^(?:${pattern})$`, 'su').test(value) : pattern === value;
      assert.equal(compileMatchers(read.matchers)({ job: value }), operator.startsWith('!') ? !same : same);
    }),
    { numRuns: 2_000 },
  );
});

test('any text is read as matchers or has a problem', () => {
  const text = fc.array(fc.constantFrom('{', '}', '"', "'", '\\', '=', '~', '!', ',', ' ', 'a', '.*'), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(text, (parts) => {
      const read = parseMatchers(`{${parts.join('')}}`);
      assert.ok(read.kind === 'problem' ? read.problem !== '' : read.matchers.length > 0);
    }),
  );
});
