import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalId, seriesOfId, sortedLabels } from '../../../src/records/series/series-id.ts';
import { fc } from '../../fixture/fast-check.ts';

/** Any Unicode, and often what has a meaning in an id. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'n', '{', '}', '=', ',', ' ', 'é', '𝄞'), maxLength: 8 }),
);
const name = text.filter((one) => one !== '');
const labels = fc
  .uniqueArray(
    fc.tuple(
      text.filter((one) => one !== '__name__'),
      text,
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
