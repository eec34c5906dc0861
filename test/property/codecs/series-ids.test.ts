import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idConditions } from '../../../src/records/series/id-expression.ts';
import { compileMatchers, MATCH_OPERATORS, parseMatchers } from '../../../src/records/series/label-matcher.ts';
import { canonicalId, seriesOfId, sortedLabels } from '../../../src/records/series/series-id.ts';
import { seriesPattern } from '../../../src/records/series/series-pattern.ts';
import { fc } from '../../fixture/fast-check.ts';

/** Any Unicode, and often what has a meaning in an id. */
const labelText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'n', '{', '}', '=', ',', ' ', 'é', '𝄞'), maxLength: 8 }),
);
const name = labelText.filter((one) => one !== '');
const labels = fc
  .uniqueArray(
    fc.tuple(
      labelText.filter((one) => one !== '__name__'),
      labelText,
    ),
    { selector: ([label]) => label, maxLength: 6 },
  )
  .map(sortedLabels);

test('an id gives back the name and the labels that it was made of', () => {
  fc.assert(
    fc.property(name, labels, (name, labels) => {
      assert.deepEqual(seriesOfId(canonicalId(name, labels)), { name, labels });
    }),
  );
});

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

const letter = fc.constantFrom('a', 'b', '"', '\\', '\n', '{', ',', '=', '.', '𝄞');
const anyText = fc.array(letter, { maxLength: 4 }).map((letters) => letters.join(''));
const label = fc.constantFrom('a', 'b', 'a b', 'b=', '"');
const series = fc
  .tuple(
    anyText.filter((name) => name !== ''),
    fc.uniqueArray(fc.tuple(label, anyText), { selector: ([name]) => name, maxLength: 4 }),
  )
  .map(([name, labels]) => canonicalId(name, sortedLabels(labels)));
const globPart = fc.constantFrom('a', 'b', '\\"', '\\\\', '\n', '\\{', ',', '=', '\\.', '.', '.*', '.+', '|', '𝄞');
const anyPattern = fc.array(globPart, { maxLength: 4 }).map((parts) => parts.join(''));
const matcher = fc
  .tuple(fc.oneof(label, fc.constant('__name__')), fc.constantFrom(...MATCH_OPERATORS), anyPattern, anyText)
  .map(([name, operator, anyPattern, value]) => {
    return `${JSON.stringify(name)}${operator}${JSON.stringify(operator.endsWith('~') ? anyPattern : value)}`;
  });
const matchers = fc.array(matcher, { minLength: 1, maxLength: 2 }).map((all) => `{${all.join()}}`);
const glob = fc
  .array(fc.constantFrom('a', '*', '?', '{', '.', '"', '\\'), { maxLength: 6 })
  .map((all) => `a${all.join('')}`);

test('a database chooses the series that the service chooses', () => {
  fc.assert(
    fc.property(series, fc.oneof(matchers, glob), (id, anyText) => {
      const found = idConditions(anyText).every((any) =>
        any.some(({ expression, wanted }) => new RegExp(expression, 'su').test(id) === wanted),
      );
      assert.equal(found, seriesPattern([anyText]).test(id));
    }),
    { numRuns: 3_000 },
  );
});
