import { holidaysOf, PLACE_EXPECTED, placeParts } from '../../../../time/holidays/holiday-list.ts';
import { missingDays } from '../../../../time/holidays/rest-days.ts';
import { fieldProblem, invalidRequest } from '../../../wire/problem.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { HolidaysAnswer, HolidaysQuery } from '../../../wire/schema/operations/holiday-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';

/** Dates that `holidays` of a detector or request adds for a place. */
export function addHolidayRoute(app: App, { nowMs }: Pick<AppServices, 'nowMs'>): void {
  app.get(
    '/v1/holidays',
    described(HolidaysAnswer, { querystring: HolidaysQuery }),
    async ({ query: { place, year: written } }) => {
      const year = written === undefined ? new Date(nowMs()).getUTCFullYear() : Number(written);
      const holidays = holidaysOf(place, [year]);
      if (holidays === null)
        throw invalidRequest([fieldProblem(['query', 'place'], `place must be ${PLACE_EXPECTED}`)]);
      return {
        place,
        year,
        holidays: [...holidays],
        missing: missingDays(place, year),
        parts: { ...placeParts(place) },
      };
    },
  );
}
