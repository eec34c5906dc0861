import { alignedLines } from '../../config/command-line.ts';
import { mustBe } from '../../config/schema/problems.ts';
import { type Holiday, holidaysOf, isPlace, PLACE_EXPECTED, placeParts } from '../../time/holidays/holiday-list.ts';
import { missingDays } from '../../time/holidays/rest-days.ts';
import { FIRST_YEAR, LAST_YEAR } from '../../time/local-times.ts';
import { DONE } from '../../tools/terminal/command-io.ts';
import { printProblems, type RunnableCommand } from './command.ts';

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });

/** Lists what `holidays` of a detector makes of a place. */
export const holidaysCommand: RunnableCommand = {
  operands: ['PLACE', '[YEAR]'],
  options: [],
  async run([place = '', written = String(new Date().getFullYear())], _flags, io) {
    const year = Number(written);
    const problems = [
      ...(isPlace(place) ? [] : [mustBe('PLACE', PLACE_EXPECTED, place)]),
      ...(Number.isInteger(year) && year >= FIRST_YEAR && year <= LAST_YEAR
        ? []
        : [mustBe('YEAR', `a year from ${FIRST_YEAR} to ${LAST_YEAR}`, written)]),
    ];
    if (problems.length > 0) return printProblems(problems, io);
    const rows = holidaysOf(place, [year])!.map(rowOf);
    for (const line of alignedLines([['date', 'day', 'kind', 'judged like', 'name'], ...rows])) io.out(line);
    const missing = missingDays(place, year);
    if (missing !== null) io.out(`\n${missing}.`);
    const parts = Object.entries(placeParts(place)).map(([part, name]) => `${part} ${name}`);
    if (parts.length > 0) io.out(`\nWith days of their own: ${parts.join(', ')}`);
    return DONE;
  },
};

function rowOf({ date, type, substitute, estimated, from, like, name }: Holiday): string[] {
  const kind = [type, substitute && 'substitute', estimated && 'by the moon', from && `from ${from}`].filter(Boolean);
  const judged = from === null ? (type === 'bank' ? `${like} if types has bank` : like) : 'no day off';
  return [date, WEEKDAY.format(Date.parse(date)), kind.join(', '), judged, name];
}
