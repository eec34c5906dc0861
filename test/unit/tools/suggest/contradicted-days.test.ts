import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offsetAt, weekdayOf, zoneOffsets } from '../../../../src/time/local-calendar.ts';
import type { Weekday } from '../../../../src/time/local-times.ts';
import { contradictedDays } from '../../../../src/tools/suggest/contradicted-days.ts';
import { SeriesColumns } from '../../../../src/tools/suggest/series-columns.ts';
import { suggest } from '../../../../src/tools/suggest/suggestion.ts';
import { suggestionText } from '../../../../src/tools/suggest/suggestion-text.ts';
import { seededRandom } from '../../../fixture/seeded-random.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const offsets = zoneOffsets('Asia/Shanghai');

/** Whether a series is busy on a day. */
type Works = (date: string, weekday: number) => boolean;

/** Nine weeks from 13 April 2026, a series for each rule. */
function columnsOf(rules: Readonly<Record<string, Works>>, { counts = false } = {}): SeriesColumns {
  const columns = new SeriesColumns(100_000);
  const random = seededRandom(1);
  for (const [id, works] of Object.entries(rules)) {
    let total = 0;
    for (let hour = 0; hour < 9 * 7 * 24; hour++) {
      const ms = Date.parse('2026-04-12T16:00:00Z') + hour * HOUR_MS;
      const localMs = ms + offsetAt({ offsets }, ms);
      const busy = works(new Date(localMs).toISOString().slice(0, 10), weekdayOf(Math.floor(localMs / DAY_MS)));
      const value = (busy ? 100 : 20) + random();
      total += value;
      columns.add(id, ms, counts ? total : value);
    }
  }
  return columns;
}

const listed = (date: string, name: string, like: Weekday = 'sun') => ({ date, name, like });
const FIRST_OF_MAY = listed('2026-05-01', 'Labour Day');
const weekend: Works = (date, weekday) => weekday < 5 && date !== '2026-05-01';

test('days that most series contradict are named: days off that are worked, days of rest, worked Saturdays', () => {
  const works: Works = (date, weekday) =>
    date === '2026-05-09' || (weekend(date, weekday) && !['2026-05-04', '2026-05-05'].includes(date));
  const days = [FIRST_OF_MAY, listed('2026-06-01', 'Children’s Day')];
  for (const counts of [false, true]) {
    const columns = columnsOf({ a_total: works, b_total: works, c_total: weekend }, { counts });
    const found = contradictedDays(columns, { offsets, listed: days });
    const of = { series: 2, of: 3 };
    assert.deepEqual(found, [
      { date: '2026-05-04', name: null, like: 'sun', ...of },
      { date: '2026-05-05', name: null, like: 'sun', ...of },
      { date: '2026-05-09', name: null, like: 'fri', ...of },
      { date: '2026-06-01', name: 'Children’s Day', like: 'mon', series: 3, of: 3 },
    ]);
  }
});

test('a Friday of rest has its working day before, and a day that is as it should be is not named', () => {
  const works: Works = (date, weekday) =>
    (weekday !== 4 && weekday !== 5 && date !== '2026-05-27') || date === '2026-05-08';
  const found = contradictedDays(columnsOf({ a: works }), { offsets, listed: [listed('2026-05-27', 'Eid', 'fri')] });
  assert.deepEqual(found, [{ date: '2026-05-08', name: null, like: 'thu', series: 1, of: 1 }]);
});

test('series whose weekdays are alike, and short ones, are no evidence', () => {
  const flat = columnsOf({ a: () => true });
  assert.deepEqual(contradictedDays(flat, { offsets, listed: [FIRST_OF_MAY] }), []);
  const short = new SeriesColumns(100);
  for (let day = 0; day < 14; day++) short.add('a', day * DAY_MS, day % 7 === 0 ? 0 : 1);
  assert.deepEqual(contradictedDays(short, { offsets, listed: [FIRST_OF_MAY] }), []);
});

test('a suggestion has them as entries of special_days, with the weekday', () => {
  const columns = columnsOf({ a: (_, weekday) => weekday < 5 });
  const contradicted = contradictedDays(columns, { offsets, listed: [FIRST_OF_MAY] });
  const context = { command: 'suggest x', sources: [], timeZone: 'Asia/Shanghai' };
  const text = suggestionText(suggest(columns), { ...context, holidays: { places: ['CN'], contradicted } });
  assert.match(text, /- \{ dates: 2026-05-01, like: fri \} # is "Labour Day"; 1 of 1 series are as on a Friday\n/);
  assert.match(text, /\n {4}holidays: \[CN\]\n/);
});
