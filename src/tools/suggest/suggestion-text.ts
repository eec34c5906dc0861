import { WEEKDAYS_OF_ISO, type Weekday } from '../../time/local-times.ts';
import type { ContradictedDay } from './contradicted-days.ts';
import type { SeriesProfile } from './series-profile.ts';
import { MISSING_SHARE_MAX, type NotWatched, type SuggestedDetector, stepsToMature } from './suggested-detector.ts';
import { type SuggestedGroup, suggestedGroups } from './suggested-groups.ts';
import type { Suggestion } from './suggestion.ts';

/** A query that is polled into the input, for the detectors that watch its series. */
export interface SuggestedSource {
  readonly name: string;
  readonly url: string;
  readonly query: string;
  readonly step: string;
}

interface SuggestionContext {
  readonly command: string;
  readonly sources: readonly SuggestedSource[];
  /** Time zone of the people whose calendar counts, such as Europe/Berlin. */
  readonly timeZone: string;
  /** Places whose holidays the series follow, and days that contradict them. */
  readonly holidays: { readonly places: readonly string[]; readonly contradicted: readonly ContradictedDay[] };
}

/** The default, written down: a later default moves no score of these detectors. */
const MODEL = 'tsmodel-1-detection';
const NAMED_MAX = 3;
const NAME_LENGTH_MAX = 80;
const GROUP_PATTERNS_MAX = 30;

/** A detectors file with the reasons as comments. It has to have a detector to be read. */
export function suggestionText(suggestion: Suggestion, context: SuggestionContext): string {
  const { series, observations, beginMs, endMs, detectors, notWatched } = suggestion;
  const { command, sources } = context;
  const lines = [
    `# Suggested by: ${inLine(command)}`,
    `# from ${count(observations, 'observation')} of ${series} series, ${timeText(beginMs)} to ${timeText(endMs)} UTC.`,
    '# Every setting can be changed: each key has its reason next to it, and a missing key its default.',
    '',
    ...(sources.length === 0 ? [] : ['source:', ...sources.flatMap(sourceLines), '']),
    ...contradictedLines(context.holidays),
    'detectors:',
    ...detectors.flatMap((detector) => detectorLines(detector, context)),
    ...suggestedGroups(detectors).flatMap(groupLines),
    ...(notWatched.length === 0 ? [] : ['', '# Not watched:', ...notWatched.flatMap(notWatchedLines)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Days on which most series contradict the holidays of the places, with the setting for them. */
function contradictedLines({ places, contradicted }: SuggestionContext['holidays']): string[] {
  if (contradicted.length === 0) return [];
  const days = contradicted.map(({ date, name, like, series, of }) => {
    const seen = `${series} of ${of} series are as on a ${weekdayName(like)}`;
    const kind = name === null ? 'is not listed' : `is ${inLine(name)}`;
    return `#   - { dates: ${date}, like: ${like} } # ${kind}; ${seen}`;
  });
  return [
    `# Days that contradict the holidays of ${places.join(', ')}. Add those that are no incidents to a detector:`,
    '#   special_days:',
    ...days,
    '',
  ];
}

function weekdayName(weekday: Weekday): string {
  // The first of January 2024 was a Monday.
  const day = new Date(Date.UTC(2024, 0, 1 + WEEKDAYS_OF_ISO.indexOf(weekday)));
  return day.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
}

function sourceLines({ name, url, query, step }: SuggestedSource): string[] {
  const keys = [`name: ${quoted(name)}`, `prometheus: ${quoted(url)}`, `query: ${quoted(query)}`, `step: ${step}`];
  return keys.map((key, i) => `${i === 0 ? '  - ' : '    '}${key}`);
}

/** By the convention of Prometheus a name ends with the unit, before `_total` or a quantile. */
function unitOf(name: string, as: SuggestedDetector['as']): string | null {
  const unit = /_(bytes|seconds|milliseconds|percent|ratio)(_total|_p\d+|_avg|_max|_mean)?$/.exec(name)?.[1] ?? null;
  if (as !== 'rate') return unit;
  return unit === 'bytes' ? 'bytes/s' : null;
}

function detectorLines(detector: SuggestedDetector, { timeZone, holidays }: SuggestionContext): string[] {
  const { name, family, freq, h, detectionSize, as, aggregate, seasonal } = detector;
  const { silenceAfter, direction, minDeviation, reasons } = detector;
  const unit = unitOf(family.name, as);
  const because = (key: string) => (reasons[key] === undefined ? '' : ` # ${reasons[key]}`);
  const rules = [
    ...(direction === 'both' ? [] : [`      direction: ${direction}${because('direction')}`]),
    ...(minDeviation === null ? [] : [`      min_deviation: ${numberText(minDeviation)}${because('min_deviation')}`]),
  ];
  const [first, ...more] = family.patterns;
  return [
    ...remarks(detector).map((remark) => `  # ${remark}`),
    `  - name: ${quoted(name)}`,
    ...(more.length === 0
      ? [`    series: ${quoted(first)}`]
      : ['    series:', ...family.patterns.map((pattern) => `      - ${quoted(pattern)}`)]),
    `    freq: ${freq.alias}`,
    ...(aggregate === null ? [] : [`    aggregate: ${aggregate} # several observations come in a step`]),
    ...(as === null ? [] : [`    as: ${as} # counters: they only grow, except at resets`]),
    `    h: ${h}`,
    `    detection_size: ${detectionSize}${because('detection_size')}`,
    `    model: ${MODEL}`,
    ...(unit === null ? [] : [`    unit: ${unit} # by its name`]),
    ...(silenceAfter === null ? [] : [`    silence_after: ${silenceAfter}${because('silence_after')}`]),
    ...(seasonal === null || timeZone === 'UTC' ? [] : [`    timezone: ${timeZone} # of this machine, or --timezone`]),
    ...(seasonal === null || holidays.places.length === 0 ? [] : [`    holidays: [${holidays.places.join(', ')}]`]),
    ...(rules.length === 0 ? [] : ['    events:', ...rules]),
  ];
}

/** A detector instead of those of the group, as a comment, for users who want one alarm per host. */
function groupLines({ label, values, detectors }: SuggestedGroup): string[] {
  const [{ freq, as, aggregate }] = detectors;
  const size = Math.max(...detectors.map(({ detectionSize }) => detectionSize));
  const patterns = detectors.flatMap(({ family }) => family.patterns);
  if (patterns.length > GROUP_PATTERNS_MAX) return [];
  const lines = [
    `${values} values of ${label} are those of ${detectors.length} detectors.`,
    'Instead of these, one alarm for all of a value:',
    `- name: ${quoted(`by-${label.replaceAll(/[^a-zA-Z0-9._-]+/g, '-').slice(0, 40)}`)}`,
    '  series:',
    ...patterns.map((pattern) => `    - ${quoted(pattern)}`),
    `  freq: ${freq.alias}`,
    ...(aggregate === null ? [] : [`  aggregate: ${aggregate}`]),
    ...(as === null ? [] : [`  as: ${as}`]),
    `  h: ${Math.max(...detectors.map(({ h }) => h))}`,
    `  detection_size: ${size}`,
    '  threshold_method: multivariate',
    `  by: [${quoted(label)}]`,
  ];
  return ['', ...lines.map((line) => `  # ${line}`)];
}

function remarks(detector: SuggestedDetector): string[] {
  const { family, freq, seasonal, shortLived, uncalibrated, constant, sparse, detectionSize } = detector;
  const { members } = family;
  const mature = stepsToMature(detectionSize);
  const lines = [`${count(members.length, 'series')}, such as ${named(members, 1)}, every ${freq.alias}`];
  if (seasonal !== null) {
    const hour = `${String(seasonal.quietestHour).padStart(2, '0')}:00`;
    lines.push(`${percent(seasonal.share)} of them have a daily or weekly season; quietest about ${hour} UTC`);
  }
  if (shortLived.length > 0) {
    const end = `end before they have a threshold (${mature} steps)`;
    lines.push(`${shortLived.length} are short-lived: they ${end}: ${named(shortLived)}`);
    const label = labelOf(shortLived);
    if (label !== null)
      lines.push(`  watch them together: aggregate over the label ${label}, or input.drop_labels: [${label}]`);
  }
  if (uncalibrated.length > 0) {
    const newest = Math.min(...uncalibrated.map(({ steps }) => mature - steps));
    lines.push(
      `${uncalibrated.length} have no threshold yet, in ${newest} steps at the earliest: ${named(uncalibrated)}`,
    );
  }
  if (constant.length > 0) lines.push(`${constant.length} never changed: ${named(constant)}`);
  if (sparse.length > 0) {
    lines.push(`${sparse.length} lack more than ${percent(MISSING_SHARE_MAX)} of their steps: ${named(sparse)}`);
  }
  return lines;
}

/** The label whose values differ most among series that come and go, such as that of their pod; null without one. */
function labelOf(members: readonly SeriesProfile[]): string | null {
  const values = new Map<string, Set<string>>();
  for (const { id } of members) {
    for (const [, label, value] of id.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)) {
      values.set(label, (values.get(label) ?? new Set()).add(value));
    }
  }
  const most = [...values].reduce<readonly [string, number]>(
    (best, [label, { size }]) => (size > best[1] ? [label, size] : best),
    ['', 1],
  );
  return most[0] === '' ? null : most[0];
}

const REASONS: Readonly<Record<NotWatched['why'], string>> = {
  constant: 'never changed. To get an event when that ends, watch them with events.normal_range',
  sparse: `lack more than ${percent(MISSING_SHARE_MAX)} of their steps. Send them at a step, or count them`,
  'no-step': 'have fewer than two observations',
  'short-lived': 'end before they have a threshold. Watch an aggregate over the label that distinguishes them',
};

function notWatchedLines({ family, why }: NotWatched): string[] {
  const { members, name } = family;
  return [`# - ${inLine(name)}: ${count(members.length, 'series')} (${named(members)}) ${REASONS[why]}`];
}

function named(members: readonly SeriesProfile[], max = NAMED_MAX): string {
  const shown = members.slice(0, max).map(({ id }) => inLine(id));
  const more = max > 1 && members.length > shown.length ? ` and ${members.length - shown.length} more` : '';
  return `${shown.join(', ')}${more}`;
}

/** Whatever an id is, it stays in its comment. */
function inLine(text: string): string {
  return quoted(text.length > NAME_LENGTH_MAX ? `${text.slice(0, NAME_LENGTH_MAX)}...` : text);
}

/** A text of YAML in quotes. JSON is YAML, except for what breaks lines there. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function numberText(value: number): string {
  return String(value).includes('e') ? value.toFixed(12).replace(/0+$/, '') : String(value);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function count(n: number, what: string): string {
  return `${n.toLocaleString('en-US')} ${what}${n === 1 || what === 'series' ? '' : 's'}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
