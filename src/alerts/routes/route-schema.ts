import { globPattern, type TextPattern } from '../../config/glob.ts';
import { boolean, durationMs, entryName, numberBelow, oneOf, text, textOf } from '../../config/schema/kinds.ts';
import {
  byName,
  defaulted,
  listOf,
  oneOrMore,
  optional,
  required,
  type Setting,
  section,
} from '../../config/schema/schema.ts';
import { timesKeys, timesOf } from '../../config/schema/times.ts';
import { EVENT_DIRECTIONS, EVENT_KINDS } from '../../record/anomaly-event.ts';
import type { EventMatch, MuteWindow } from './alert-route.ts';
import { isGroupField } from './match-event.ts';

const texts = oneOrMore(text);
/** What any of these globs matches. */
const globs: Setting<TextPattern> = {
  ...texts,
  read(node, place) {
    const written = texts.read(node, place);
    return written === undefined ? undefined : globPattern(written);
  },
};

/** `match` of a route: every condition must hold. */
const match = section(
  {
    detector: optional(globs, 'Globs over the names of detectors.'),
    series: optional(globs, 'Globs over the id of the series or group.'),
    kinds: optional(oneOrMore(oneOf(...EVENT_KINDS)), 'What the event looks like.', { written: 'kind' }),
    directions: optional(oneOrMore(oneOf(...EVENT_DIRECTIONS)), 'Side of the forecast.', { written: 'direction' }),
    severityMin: optional(numberBelow(0, 1e9), 'An event without a severity, such as silence, does not match.'),
    gradeMin: optional(numberBelow(0, 1), 'An event without a grade, such as silence, does not match.'),
    labels: defaulted(byName(globs), {}, 'Labels of the detector, by globs.'),
  },
  ({ detector, series, kinds, directions, severityMin, gradeMin, labels }): EventMatch => ({
    detector: detector ?? null,
    series: series ?? null,
    kinds: kinds ?? null,
    directions: directions ?? null,
    severityMin: severityMin ?? null,
    gradeMin: gradeMin ?? null,
    labels,
  }),
);

const groupField = textOf('detector, kind, direction, group or labels.NAME', (name) => {
  return isGroupField(name) ? name : undefined;
});

const receivers = required(oneOrMore(text), 'Names of receivers.');

const escalationStep = section(
  {
    afterMs: required(durationMs, 'While the event is open so long after it was notified first.', { written: 'after' }),
    receivers,
  },
  ({ afterMs, receivers = [] }, place) => ({ afterMs, receivers, place }),
);

/** One entry of `routes`, with names that are not looked up yet. */
export const route = section(
  {
    name: required(entryName, 'Unique.'),
    match: defaulted(match, {}, 'Every condition must hold; without one every event matches.'),
    receivers,
    continues: defaulted(boolean, false, 'Later routes see the event, too.', { written: 'continue' }),
    updates: defaulted(boolean, false, 'Every revision is sent, not only the first and the last.'),
    groupBy: optional(oneOrMore(groupField), 'Events that share these fields come in one message.'),
    groupWaitMs: defaulted(durationMs, '30s', 'How long a message waits for further events, with `group_by`.', {
      written: 'group_wait',
    }),
    coolDownMs: defaulted(durationMs, '0s', 'The route is silent about a series for so long after an event of it.', {
      written: 'cool_down',
    }),
    ageLimitMs: optional(durationMs, 'An event whose newest observation is older when it arrives is not sent.', {
      written: 'age_limit',
    }),
    mute: optional(oneOrMore(text), 'Names of `mute_windows`.'),
    escalate: optional(listOf(escalationStep), 'Further receivers while it stays open.'),
  },
  (fields, place) => {
    if (place.has('group_wait') && !place.has('group_by'))
      place.problem('group_by', 'set, as group_wait is', undefined);
    return { ...fields, place };
  },
);

/** One entry of `mute_windows`. */
export const muteWindow = section(
  { name: required(entryName, 'Unique; routes name it.'), ...timesKeys },
  ({ name, ...fields }, place): MuteWindow | undefined => {
    const times = timesOf(fields, place);
    return name === undefined || times === undefined ? undefined : { name, times };
  },
);
