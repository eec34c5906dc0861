import {
  boolean,
  durationMs,
  entryName,
  numberBelow,
  oneOf,
  seriesText,
  text,
  textOf,
} from '../../config/schema/kinds.ts';
import {
  byName,
  defaulted,
  oneOrMore,
  optional,
  removed,
  required,
  type Setting,
  section,
} from '../../config/schema/schema.ts';
import { timesKeys, timesOf } from '../../config/schema/times.ts';
import { EVENT_DIRECTIONS, EVENT_KINDS } from '../../records/anomaly-event.ts';
import { INCIDENT_KINDS } from '../../records/incident.ts';
import { globPattern, type TextPattern } from '../../records/series/glob.ts';
import { type SeriesPattern, seriesPattern } from '../../records/series/series-pattern.ts';
import type { EventMatch, MuteWindow } from './alert-route.ts';
import { isGroupField } from './match-event.ts';

const texts = oneOrMore(text);
const globs: Setting<TextPattern> = {
  ...texts,
  read(node, place) {
    const written = texts.read(node, place);
    return written === undefined ? undefined : globPattern(written);
  },
};

const seriesTexts = oneOrMore(seriesText);
/** Matches what any of these globs and matchers matches. */
const series: Setting<SeriesPattern> = {
  ...seriesTexts,
  read(node, place) {
    const written = seriesTexts.read(node, place);
    return written === undefined ? undefined : seriesPattern(written);
  },
};

/** `match` of a route: every condition must hold; of an incident, one event must match those on events. */
const match = section(
  {
    detector: optional(globs, 'Globs over the names of detectors.'),
    series: optional(series, 'Globs over the id of the series or group, or matchers of its labels: {job=~"web-.*"}.'),
    kinds: optional(oneOrMore(oneOf(...EVENT_KINDS)), 'Kinds of events.', 'kind'),
    directions: optional(oneOrMore(oneOf(...EVENT_DIRECTIONS)), 'Side of the forecast.', 'direction'),
    incidentKinds: optional(
      oneOrMore(oneOf(...INCIDENT_KINDS)),
      'With `on: incidents`: kinds of incidents.',
      'incident_kind',
    ),
    severityMin: optional(numberBelow(0, 1e9), 'Events without severity, such as silence, do not match.'),
    gradeMin: optional(numberBelow(0, 1), 'Events without grade, such as silence, do not match.'),
    labels: defaulted(byName(globs), {}, 'Labels of the detector, by globs.'),
  },
  ({ detector, series, kinds, directions, incidentKinds, severityMin, gradeMin, labels }): EventMatch => ({
    detector: detector ?? null,
    series: series ?? null,
    kinds: kinds ?? null,
    directions: directions ?? null,
    incidentKinds: incidentKinds ?? null,
    severityMin: severityMin ?? null,
    gradeMin: gradeMin ?? null,
    labels,
  }),
);

const groupField = textOf('detector, kind, direction, group, labels.NAME or series_labels.NAME', (name) => {
  return isGroupField(name) ? name : undefined;
});

const receiverName = textOf('the name of a receiver', (name) => (name.trim() === '' ? undefined : name));

const GROUP_WAIT_MS = { events: 30_000, incidents: 5_000 } as const;
/** Keys of a route that incidents have no use for. */
const OF_EVENTS = ['group_by', 'cool_down'] as const;

/** One entry of `routes`, with names that are not looked up yet. */
export const route = section(
  {
    name: optional(entryName, 'Unique. Default: the names of its receivers, joined by a dash.'),
    on: defaulted(oneOf('events', 'incidents'), 'events', 'Sends each event, or incidents with all their events.'),
    match: defaulted(match, {}, 'All conditions must match; without one everything matches.'),
    receivers: required(oneOrMore(receiverName), 'Names of receivers.'),
    continues: defaulted(boolean, false, 'Later routes of the same `on` get it, too.', 'continue'),
    updates: defaulted(boolean, false, 'Sends every revision, not only the first and the last.'),
    groupBy: optional(oneOrMore(groupField), 'Events that share these fields are sent in one message.'),
    groupWaitMs: optional(
      durationMs,
      'How long a message waits for further events. Default: 30s with `group_by`, 5s on incidents.',
      'group_wait',
    ),
    coolDownMs: defaulted(
      durationMs,
      '0s',
      'Time after an event in which the route sends nothing about its series.',
      'cool_down',
    ),
    ageLimitMs: optional(
      durationMs,
      'An event whose newest observation is older when it arrives is not sent.',
      'age_limit',
    ),
    mute: optional(oneOrMore(text), 'Names of `mute_windows`.'),
    escalate: removed('PagerDuty and Alertmanager escalate open alerts'),
  },
  (fields, place) => {
    const { on, match } = fields;
    if (on === 'events' && match.incidentKinds !== null)
      place.problem('on', 'incidents, because incident_kind is set', on);
    if (on === 'events' && place.has('group_wait') && !place.has('group_by'))
      place.problem('group_by', 'set, because group_wait is', undefined);
    for (const key of on === 'incidents' ? OF_EVENTS : []) {
      if (place.has(key)) place.problem('on', `events, because ${key} is set`, on);
    }
    return { ...fields, groupWaitMs: fields.groupWaitMs ?? GROUP_WAIT_MS[on], place };
  },
);

export const muteWindow = section(
  {
    name: required(entryName, 'Unique; routes name it.'),
    series: optional(series, 'Only events of series or groups that these globs or matchers select. Default: all.'),
    ...timesKeys,
  },
  ({ name, series, ...fields }, place): MuteWindow | undefined => {
    const times = timesOf(fields, place);
    return name === undefined || times === undefined ? undefined : { name, series: series ?? null, times };
  },
);
