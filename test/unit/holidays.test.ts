import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicHolidays } from '../../src/holidays.ts';

test('public holidays are those of a country, with those of a region where one is named', () => {
  const [country, region] = [publicHolidays('DE')!, publicHolidays('DE-BY')!];
  for (const holidays of [country, region])
    assert.ok(holidays.includes('2026-05-14') && holidays.includes('2026-12-25'));
  assert.ok(!country.includes('2026-01-06') && region.includes('2026-01-06'));
  assert.ok(!country.includes('2026-12-24'), 'no public holiday');
  assert.ok(publicHolidays('US')!.includes('2026-07-03'), 'a substitute day');
});

test('holidays of some years are those of all years that lie in them', () => {
  const some = publicHolidays('DE-BY', [2026, 2025, 1])!;
  const all = publicHolidays('DE-BY')!;
  assert.deepEqual(
    some,
    all.filter((date) => date.startsWith('2025') || date.startsWith('2026')),
  );
});

test('places that the list does not know have none', () => {
  for (const place of ['XX', 'DE-XX', 'Germany', '', '__proto__']) assert.equal(publicHolidays(place), null, place);
});
