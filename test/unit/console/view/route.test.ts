import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRoute, routeTo } from '../../../../src/console/view/route.ts';
import { fc } from '../../../fixture/fast-check.ts';

test('every page, subject and query comes back from its address', () => {
  const query = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }));
  const wellFormed = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(fc.constantFrom('now', 'series', 'events'), fc.option(wellFormed), query, (page, subject, asked) => {
      assert.deepEqual(parseRoute(routeTo(page, subject, asked)), { page, subject, query: { ...asked } });
    }),
  );
});

test('an address that nobody made leads somewhere all the same', () => {
  assert.deepEqual(parseRoute(''), { page: '', subject: null, query: {} });
  assert.deepEqual(parseRoute('#/series/%'), { page: 'series', subject: '%', query: {} });
});
