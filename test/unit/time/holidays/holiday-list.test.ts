import assert from 'node:assert/strict';
import { test } from 'node:test';
import Holidays from 'date-holidays';
import { CORRECTIONS } from '../../../../src/time/holidays/corrections.ts';
import { daysOff, holidaysOf, placeParts } from '../../../../src/time/holidays/holiday-list.ts';

/** Days off of a year as `01-31`; with the weekday that they resemble where it is not Sunday. */
function off(place: string, year: number, types?: readonly ('public' | 'bank')[]): string[] {
  const days = daysOff({ place, types }, [year])!;
  return days.flatMap(({ dates, like }) => dates.map((date) => date.slice(5) + (like === 'sun' ? '' : ` ${like}`)));
}

/** Those of a month. */
const within = (place: string, month: string, types?: readonly ('public' | 'bank')[]) =>
  off(place, Number(month.slice(0, 4)), types).filter((date) => date.startsWith(month.slice(5)));

test('public holidays are those of a country, with those of a region and of a part of it where one is named', () => {
  assert.ok(!off('DE', 2026).includes('01-06') && off('DE-BY', 2026).includes('01-06'));
  assert.ok(!off('DE-BY', 2026).includes('08-15') && off('DE-BY-KATH', 2026).includes('08-15'));
  assert.ok(off('DE-BY-A', 2026).includes('08-08'), 'Augsburg');
  assert.ok(!off('DE', 2026).includes('12-24'), 'no public holiday');
  assert.ok(off('US', 2026).includes('07-03'), 'a substitute day');
  assert.ok(off('CK-Aitutaki', 2026).length > 10, 'a region with a long name');
  assert.deepEqual(placeParts('US-CA'), { 'US-CA-LA': 'Los Angeles' });
  assert.deepEqual(placeParts('US-CA-LA'), {});
});

test('every day that lies whole within a holiday is off', () => {
  for (const [place, month, days] of [
    ['VN', '2026-02', '02-16 02-17 02-18 02-19 02-20'],
    ['RU', '2026-01', '01-01 01-02 01-03 01-04 01-05 01-06 01-07 01-08'],
    ['KR', '2026-02', '02-16 02-17 02-18'],
    ['KR', '2028-10', '10-02 10-03 10-04 10-05 10-09'],
    // The list has 90 and 114 hours, which end at noon.
    ['TR', '2026-03', '03-20 03-21 03-22'],
    ['TR', '2026-05', '05-01 05-19 05-27 05-28 05-29 05-30'],
    // Over a turn of the year.
    ['SZ', '2027-01', '01-01 01-02'],
    // A day of 23 hours, and of 25.
    ['DE-BB', '2027-03', '03-26 03-28 03-29'],
    ['AT', '2025-10', '10-26'],
    // Days of the moon last from evening to evening.
    ['EG', '2026-05', '05-01 fri 05-27 fri 05-28 fri 05-29 fri 05-30 fri'],
  ] as const) {
    assert.equal(within(place, month).join(' '), days, `${place} ${month}`);
  }
});

test('a date is listed once, also if a feast of several days contains another one', () => {
  const dates = holidaysOf('VN', [2026])?.map(({ date }) => date) ?? [];
  assert.deepEqual(dates, [...new Set(dates)]);
});

test('a holiday that begins later than midnight is no day off', () => {
  for (const place of ['CN', 'CW', 'FO', 'GT']) assert.ok(holidaysOf(place, [2026])!.some(({ from }) => from !== null));
  assert.deepEqual(within('CN', '2026-08'), []);
  assert.ok(!off('CW', 2026).includes('12-31'));
  assert.ok(!off('DE', 2026, ['public', 'bank']).includes('12-24'), 'from 14:00');
});

test('a day off resembles the day of rest of its place, or the weekday that is named', () => {
  assert.deepEqual(within('IL', '2026-04'), ['04-02 sat', '04-08 sat', '04-22 sat']);
  for (const place of ['SA', 'EG', 'IR', 'BD', 'DZ', 'MY-02'])
    assert.deepEqual(
      daysOff({ place }, [2026])!.map(({ like }) => like),
      ['fri'],
      place,
    );
  assert.deepEqual(within('AE', '2021-12').concat(within('AE', '2022-12')), [
    '12-02 fri',
    '12-03 fri',
    '12-02',
    '12-03',
  ]);
  const likes = daysOff({ place: 'IL', like: 'sun' }, [2026])!.map(({ like }) => like);
  assert.deepEqual(likes, ['sun']);
});

test('bank holidays count where they are chosen', () => {
  assert.ok(!off('SE', 2026).includes('06-19') && off('SE', 2026, ['public', 'bank']).includes('06-19'));
  assert.deepEqual(within('BR', '2026-02', ['bank']), ['02-16', '02-17']);
});

test('a region has the days of its country, unless the list takes them away', () => {
  for (const region of ['BR-SP', 'BR-RJ', 'BR-MT', 'BR-AM']) assert.ok(off(region, 2026).includes('11-20'), region);
  assert.ok(off('BR-RJ', 2010).includes('11-20') && !off('BR-SP', 2010).includes('11-20'));
  assert.ok(!off('US-CA', 2026).includes('10-12') && !off('GB-SCT', 2026).includes('04-06'));
});

test('holidays of some years are those of all years that lie in them', () => {
  for (const place of ['DE-BY', 'SZ', 'IR']) {
    const all = holidaysOf(place)!;
    const ofSome = all.filter(({ date }) => date.startsWith('2025') || date.startsWith('2026'));
    assert.deepEqual(holidaysOf(place, [2026, 2025, 1]), ofSome);
  }
});

test('places that the list does not know have none', () => {
  for (const place of ['XX', 'DE-XX', 'DE-BY-XX', 'DE-constructor', 'Germany', '', '__proto__'])
    assert.equal(holidaysOf(place), null, place);
});

test('what the list has wrong is corrected by the law of the place, in its regions, too', () => {
  for (const [place, month, days] of [
    ['AE', '2026-05', '05-26 05-27 05-28 05-29'],
    ['AE', '2026-01', '01-01'],
    ['AZ', '2027-03', '03-08 03-09 03-10 03-20 03-21 03-22 03-23 03-24'],
    ['BG', '2027-12', '12-24 12-25 12-26 12-27 12-28'],
    ['BG', '2025-09', '09-06 09-08 09-22'],
    ['CN', '2026-06', '06-19'],
    ['CN', '2024-05', '05-01'],
    ['CN', '2025-05', '05-01 05-02 05-31'],
    ['CY', '2026-02', '02-23'],
    ['EC', '2025-11', '11-03 11-04'],
    ['EC', '2028-10', '10-09'],
    ['LK', '2027-01', '01-01'],
    ['MA', '2025-10', ''],
    ['MA', '2026-10', '10-31'],
    ['ME', '2026-12', ''],
    ['SK', '2026-05', '05-01'],
    ['SK', '2027-05', '05-01 05-08'],
    ['SV', '2026-01', '01-01'],
    ['TW', '2026-02', '02-15 02-16 02-17 02-18 02-19 02-20 02-21 02-27 02-28'],
    ['TW', '2026-09', '09-25 09-28'],
    ['UA', '2021-12', '12-25 12-27'],
    ['UA', '2026-08', ''],
  ] as const) {
    assert.equal(within(place, month).join(' '), days, `${place} ${month}`);
  }
});

test('what is dropped is a rule of the list, and what is added is one that it can read and does not have', () => {
  for (const { places, drops = [], adds = {}, source } of CORRECTIONS) {
    assert.notEqual(source, '');
    for (const place of places) {
      const list = new Holidays(place);
      for (const rule of drops === 'all' ? [] : drops) assert.ok(list.getRule(rule), `${place} drops ${rule}`);
      for (const [rule, name] of Object.entries(adds)) {
        const listed = list.getRule(rule) as { type?: string } | undefined;
        assert.notEqual(listed?.type, 'public', `${place} adds ${rule}`);
        assert.ok(list.setHoliday(rule, { name: { en: name }, type: 'public' }), `${place} adds ${rule}`);
      }
    }
  }
});
