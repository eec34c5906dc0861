import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedNames, visibleId } from '../../../../src/records/series/listed-names.ts';
import { canonicalId } from '../../../../src/records/series/series-id.ts';
import { fc } from '../../../fixture/fast-check.ts';

const LONG = 'http_request_duration_seconds_p95';
const idOf = (pod: string, name = LONG) => `${name}{cluster="eu-west-1-production",job="shop",pod="${pod}"}`;
const shownIn = (ids: readonly string[]) => {
  const { shared, of } = listedNames(ids);
  return { shared, texts: ids.map(of) };
};

test('what long ids share is listed once, and each row has what differs', () => {
  assert.deepEqual(shownIn([idOf('a'), idOf('b')]), {
    shared: [`${LONG}{cluster="eu-west-1-production",job="shop"}`],
    texts: ['pod=a', 'pod=b'],
  });
  assert.deepEqual(shownIn([idOf('a'), idOf('a', 'up')]), {
    shared: ['{cluster="eu-west-1-production",job="shop",pod="a"}'],
    texts: [LONG, 'up'],
  });
  const path = (last: string) => `production/eu-west-1/checkout-service/payments/${last}/latency-p95`;
  assert.deepEqual(shownIn([path('api-1'), path('api-2')]), {
    shared: ['production/eu-west-1/checkout-service/payments/…latency-p95'],
    texts: ['…api-1/…', '…api-2/…'],
  });
});

test('short ids, a list of one row and ids of a form that no other has are whole', () => {
  for (const ids of [['web-1/cpu', 'web-2/cpu'], [idOf('a')], [idOf('a'), 'cpu']]) {
    assert.deepEqual(shownIn(ids), { shared: [], texts: ids });
  }
  assert.deepEqual(shownIn([idOf('a'), idOf('a')]), { shared: [idOf('a')], texts: [LONG, LONG] });
});

test('an invisible character, outer and repeated spaces can be seen', () => {
  assert.deepEqual(['\u202egnp', 'a\u200bb', ' ', '', 'a  b', 'a b'].map(visibleId), [
    '\\u{202e}gnp',
    'a\\u{200b}b',
    '" "',
    '""',
    '"a  b"',
    'a b',
  ]);
});

const words = fc.constantFrom('a', 'eu-west-1-production', 'x'.repeat(70), ' ', '\u202e', '=",');
const labels = fc.uniqueArray(fc.tuple(fc.constantFrom('pod', 'job', 'b c', '__x'), words), { selector: ([l]) => l });
const anyId = fc.oneof(
  fc.tuple(words, labels).map(([name, pairs]) => canonicalId(name, pairs)),
  fc.tuple(words, labels).map(([name, pairs]) => canonicalId(name, pairs.toReversed())),
  fc.array(words, { maxLength: 6 }).map((parts) => parts.join('/')),
);

test('two ids of a list never have the same text', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyId, { maxLength: 12 }), (ids) => {
      assert.equal(new Set(ids.map(listedNames(ids).of)).size, ids.length);
    }),
  );
});
