import { type EventRules, NO_RULES, type ValueRange } from '../../detection/event/open/event-rules.ts';
import { boolean, durationMs, number, numberFrom, oneOf, textMatching, textOf } from '../schema/kinds.ts';
import { byName, defaulted, listOf, optional, section } from '../schema/schema.ts';
import { timesKeys, timesOf } from '../schema/times.ts';

const PERCENT = /^(\d{1,6}(?:\.\d{1,6})?)%$/;
const percent = textOf('a share in percent such as 10%', (text) => Number(PERCENT.exec(text)![1]) / 100, {
  pattern: PERCENT.source,
});

const RANGE = 'a mapping with min, max or both';

/** One of both may be left out. */
const range = section(
  { min: optional(number, 'Smallest value inside.'), max: optional(number, 'Largest value inside.') },
  ({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }, place): ValueRange => {
    if (min >= max) place.problem('max', `above min (${min})`, max);
    if (!place.has('min') && !place.has('max')) place.mustBe(RANGE, undefined);
    return { min, max };
  },
  { minProperties: 1 },
);

/** `events` of a detector: which alarms become events. */
export const eventRules = section(
  {
    direction: defaulted(oneOf('up', 'down', 'both'), 'both', 'Only alarms on that side of the forecast.'),
    minDeviation: defaulted(numberFrom(0), 0, 'Smallest distance from the forecast, in units of the series.'),
    minDeviationShare: defaulted(percent, '0%', 'Smallest distance as a share of the forecast.'),
    validRange: optional(range, 'A value outside is an event, regardless of its grade.'),
    normalRange: optional(range, 'Values inside are no event, regardless of their grade.'),
    minDurationMs: defaulted(durationMs, '0s', 'Shorter alarms become no event.', 'min_duration'),
    coolDownMs: defaulted(durationMs, '0s', 'Time after the last alarm of an event in which none opens.', 'cool_down'),
    onceInDrift: defaulted(boolean, true, 'A drift is one event that stays open for six windows.'),
    stoppedAt: optional(
      number,
      'A value at or below it is an expected stop; it and the value after it raise no alarm.',
    ),
    quiet: optional(listOf(section(timesKeys, timesOf)), 'Maintenance and calendars: no alarms in these times.'),
  },
  ({ validRange, normalRange, stoppedAt, quiet, ...rules }): EventRules => ({
    ...rules,
    validRange: validRange ?? NO_RULES.validRange,
    normalRange: normalRange ?? NO_RULES.normalRange,
    stoppedAt: stoppedAt ?? NO_RULES.stoppedAt,
    quiet: quiet ?? NO_RULES.quiet,
  }),
);

const LABELS_MAX = 16;
const LABEL_CHARACTERS_MAX = 256;

/** `labels` of a detector: texts by name. */
export const labels = byName(
  textMatching(`text of 1 to ${LABEL_CHARACTERS_MAX} characters`, /\S/, { maxLength: LABEL_CHARACTERS_MAX }),
  {
    pattern: /^[a-zA-Z_][\w.-]{0,63}$/,
    expected: 'named by 1 to 64 letters, digits, dots, dashes or underscores',
    max: LABELS_MAX,
  },
);
