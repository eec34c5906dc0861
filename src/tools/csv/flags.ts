import { commandFlag, type OptionValues } from '../../config/options/option.ts';
import { oneOf, text } from '../../config/schema/kinds.ts';
import { timeZone } from '../../config/schema/times.ts';
import { seriesOfFile } from './input.ts';
import type { CsvReading } from './observations.ts';
import { timeFormat } from './time-format.ts';

const timeUnit = oneOf('iso', 's', 'ms', 'us', 'ns');

/** Flags of every command that reads observations from a CSV file. */
export const csvFlags = {
  seriesColumn: commandFlag('series-column', text, 'column of the series (default: series or unique_id, if present)'),
  timeColumn: commandFlag('time-column', text, 'column of the event time (default: timestamp, ds, time or date)'),
  valueColumn: commandFlag('value-column', text, 'column of the value (default: value or y)'),
  series: commandFlag('series', text, 'series of a file without that column (default: the name of the file)'),
  timeUnit: commandFlag('time-unit', timeUnit, `${timeUnit.expected} (default: detected)`),
  timeFormat: commandFlag('time-format', timeFormat, 'format of the times, as for strptime: "%d/%m/%Y %H:%M"'),
  timeZone: commandFlag('time-zone', timeZone, 'time zone of times without one, such as Europe/Berlin (default: UTC)'),
  group: commandFlag('group', text, 'group of the series, whose members are scored together'),
};

/** The reading of a file, by the values of these flags. */
export function csvReading(path: string, flags: Partial<Omit<OptionValues<typeof csvFlags>, 'group'>>): CsvReading {
  const { seriesColumn, timeColumn, valueColumn, series, timeUnit, timeZone, timeFormat } = flags;
  return {
    series: seriesColumn,
    time: timeColumn,
    value: valueColumn,
    onlySeries: series ?? seriesOfFile(path),
    onlySeriesNamed: series !== undefined,
    timeUnit,
    timeZone,
    timeFormat,
  };
}
