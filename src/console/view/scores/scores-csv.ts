import { spreadsheetField } from '../../../records/text/csv-field.ts';
import type { ShownScores } from './shown-scores.ts';
import type { TimeRange } from './time-range.ts';

const COLUMNS = ['value', 'forecast', 'lo', 'hi', 'grade', 'alarms'] as const;

/** The shown rows as CSV, times in ISO (UTC). */
export function scoresCsv(series: string, columns: ShownScores, { from, to }: TimeRange): string {
  const name = spreadsheetField(series);
  const rows = columns.timestampMs.flatMap((at, i) => {
    if (at < from || at > to || columns.value[i] === null) return [];
    return [[name, new Date(at).toISOString(), ...COLUMNS.map((column) => columns[column][i] ?? '')].join(',')];
  });
  return `${['series', 'timestamp', ...COLUMNS].join(',')}\n${rows.map((row) => `${row}\n`).join('')}`;
}
