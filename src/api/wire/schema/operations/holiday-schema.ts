import Type from 'typebox';
import { HOLIDAY_TYPES, PLACE } from '../../../../time/holidays/holiday-list.ts';
import { FIRST_YEAR, LAST_YEAR, WEEKDAYS_OF_ISO } from '../../../../time/local-times.ts';
import { NullableText } from '../query-fields.ts';

export const HolidaysQuery = Type.Object({
  place: Type.String({ pattern: PLACE.source, description: '`DE`, `DE-BY`, `DE-BY-KATH`' }),
  year: Type.Optional(
    Type.String({
      pattern: '^20[0-4][0-9]$|^2050$',
      description: `${FIRST_YEAR} to ${LAST_YEAR}. Default: this year.`,
    }),
  ),
});

export const HolidaysAnswer = Type.Object({
  place: Type.String(),
  year: Type.Integer(),
  holidays: Type.Array(
    Type.Object({
      date: Type.String({ description: 'In local time.' }),
      name: Type.String(),
      type: Type.Enum([...HOLIDAY_TYPES]),
      like: Type.Enum([...WEEKDAYS_OF_ISO], {
        description: 'The day of rest of the place, which the date resembles.',
      }),
      from: NullableText('When a part of a day begins: it is no day off. null for a whole day.'),
      substitute: Type.Boolean({ description: 'True if the day is off instead of a holiday on a weekend.' }),
      estimated: Type.Boolean({ description: 'True if it follows the moon: it may be a day earlier or later.' }),
    }),
  ),
  missing: NullableText('Days off that are not known, and how to name them. null if the list has all of them.'),
  parts: Type.Record(Type.String(), Type.String(), { description: 'Parts of the place with days of their own.' }),
});
