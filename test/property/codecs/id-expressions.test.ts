import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idConditions } from '../../../src/records/series/id-expression.ts';
import { MATCH_OPERATORS } from '../../../src/records/series/label-matcher.ts';
import { canonicalId, sortedLabels } from '../../../src/records/series/series-id.ts';
import { seriesPattern } from '../../../src/records/series/series-pattern.ts';
import { fc } from '../../fixture/fast-check.ts';

const letter = fc.constantFrom('a', 'b', '"', '\\', '\n', '{', ',', '=', '.', '𝄞');
const text = fc.array(letter, { maxLength: 4 }).map((letters) => letters.join(''));
const label = fc.constantFrom('a', 'b', 'a b', 'b=', '"');
const series = fc
  .tuple(
    text.filter((name) => name !== ''),
    fc.uniqueArray(fc.tuple(label, text), { selector: ([name]) => name, maxLength: 4 }),
  )
  .map(([name, labels]) => canonicalId(name, sortedLabels(labels)));
const part = fc.constantFrom('a', 'b', '\\"', '\\\\', '\n', '\\{', ',', '=', '\\.', '.', '.*', '.+', '|', '𝄞');
const pattern = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
const matcher = fc
  .tuple(fc.oneof(label, fc.constant('__name__')), fc.constantFrom(...MATCH_OPERATORS), pattern, text)
  .map(([name, operator, pattern, value]) => {
    return `${JSON.stringify(name)}${operator}${JSON.stringify(operator.endsWith('~') ? pattern : value)}`;
  });
const matchers = fc.array(matcher, { minLength: 1, maxLength: 2 }).map((all) => `{${all.join()}}`);
const glob = fc
  .array(fc.constantFrom('a', '*', '?', '{', '.', '"', '\\'), { maxLength: 6 })
  .map((all) => `a${all.join('')}`);

test('a database chooses the series that the service chooses', () => {
  fc.assert(
    fc.property(series, fc.oneof(matchers, glob), (id, text) => {
      const found = idConditions(text).every((any) =>
        any.some(({ expression, wanted }) => new RegExp(expression, 'su').test(id) === wanted),
      );
      assert.equal(found, seriesPattern([text]).test(id));
    }),
    { numRuns: 3_000 },
  );
});
