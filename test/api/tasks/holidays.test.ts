import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { HolidaysAnswer } from '../../../src/api/wire/schema/operations/holiday-schema.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp(undefined, { key: { role: 'viewer' } });

async function get(query: string) {
  const answer = await app.inject({ url: `/v1/holidays?${query}`, headers: AUTHORIZED });
  return { status: answer.statusCode, body: answer.json() };
}

test('holidays of a place are listed with their kind, and with what is unknown', async () => {
  const { status, body } = await get('place=CN&year=2026');
  assert.deepEqual([status, Check(HolidaysAnswer, body)], [200, true]);
  const on = (date: string) => body.holidays.filter((each: { date: string }) => each.date === date);
  const labour = { date: '2026-05-02', name: '劳动节', type: 'public', like: 'sun', from: null };
  assert.deepEqual(on('2026-05-02'), [{ ...labour, substitute: false, estimated: false }]);
  assert.equal(on('2026-05-04')[0].from, '12:00');
  assert.match(body.missing, /special_days.*like: fri/);
  const bavaria = (await get('place=DE-BY')).body;
  assert.deepEqual([bavaria.missing, bavaria.parts['DE-BY-A']], [null, 'Stadt Augsburg']);
});

test('a place or year that is not known is refused by its name', async () => {
  for (const [query, field] of [
    ['place=XX', 'place'],
    ['place=DE-BY-XX', 'place'],
    ['place=DE&year=1999', 'year'],
    ['year=2026', 'place'],
  ]) {
    const { status, body } = await get(query);
    assert.deepEqual([status, body.detail[0].loc.at(-1)], [422, field], query);
  }
});
