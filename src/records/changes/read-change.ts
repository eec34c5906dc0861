import { createHash } from 'node:crypto';
import { patternProblem } from '../series/series-pattern.ts';
import { CHANGE_TIME_MS, CHANGE_LIMITS as LIMITS } from './change-limits.ts';
import type { Deployment } from './deployment.ts';

interface ChangeProblem {
  readonly field: string;
  readonly expected: string;
}

type ReadChange =
  | { readonly kind: 'change'; readonly change: Deployment }
  | { readonly kind: 'problems'; readonly problems: readonly ChangeProblem[] };

/** Fields of Grafana's annotations that have no meaning here. */
const IGNORED = ['dashboardId', 'dashboardUID', 'panelId'];
const FIELDS = ['id', 'time', 'timeEnd', 'text', 'tags', 'labels', 'series', 'link', ...IGNORED];

/** Fields that are 0 if clients of Grafana leave them out. */
const NONE_AS_ZERO = ['id', 'time', 'timeEnd'];

const isTime = (value: unknown) =>
  Number.isInteger(value) && Number(value) >= CHANGE_TIME_MS.min && Number(value) <= CHANGE_TIME_MS.max;
const TIME = 'integer milliseconds since 1970, of the years 1990 to 2099';
const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && /\S/.test(value) && value.length <= max && value.isWellFormed();
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Check = readonly [field: string, expected: string, holds: (value: unknown) => boolean];

const CHECKS: readonly Check[] = [
  [
    'id',
    `text of 1 to ${LIMITS.idCharactersMax} characters, or an integer`,
    (id) => isText(id, LIMITS.idCharactersMax) || Number.isSafeInteger(id),
  ],
  ['time', TIME, isTime],
  ['timeEnd', TIME, isTime],
  ['text', `text of 1 to ${LIMITS.textCharactersMax} characters`, (text) => isText(text, LIMITS.textCharactersMax)],
  [
    'tags',
    `a list of at most ${LIMITS.tagsMax} texts of 1 to ${LIMITS.tagCharactersMax} characters`,
    (tags) =>
      Array.isArray(tags) && tags.length <= LIMITS.tagsMax && tags.every((tag) => isText(tag, LIMITS.tagCharactersMax)),
  ],
  [
    'labels',
    `at most ${LIMITS.labelsMax} texts by name, of 1 to ${LIMITS.labelCharactersMax} characters`,
    (labels) =>
      isObject(labels) &&
      Object.keys(labels).length <= LIMITS.labelsMax &&
      Object.entries(labels)
        .flat()
        .every((each) => isText(each, LIMITS.labelCharactersMax)),
  ],
  [
    'link',
    `an address that begins with http:// or https://, of at most ${LIMITS.linkCharactersMax} characters`,
    isLink,
  ],
];

/**
 * A change as it is written, by people, programs and Grafana's clients. Without a time it is of now. Without an id its
 * content names it, so that a repetition changes nothing.
 */
export function readChange(written: unknown, nowMs: number): ReadChange {
  if (!isObject(written)) return { kind: 'problems', problems: [{ field: '', expected: 'an object' }] };
  const given = Object.fromEntries(
    Object.entries(written).filter(([field, value]) => {
      return value !== null && !(value === 0 && NONE_AS_ZERO.includes(field));
    }),
  );
  const problems: ChangeProblem[] = CHECKS.filter(
    ([field, , holds]) => (field === 'text' || field in given) && !holds(given[field]),
  ).map(([field, expected]) => ({ field, expected }));
  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) problems.push({ field, expected: `left out: a change has ${FIELDS.join(', ')}` });
  }
  const { series = null } = given;
  const isSeries = series === null || isText(series, LIMITS.seriesCharactersMax);
  const ofSeries = isSeries
    ? series && patternProblem(series)
    : `text of at most ${LIMITS.seriesCharactersMax} characters`;
  if (ofSeries) problems.push({ field: 'series', expected: ofSeries });
  const { time = nowMs, timeEnd = null } = given as { readonly time?: number; readonly timeEnd?: number };
  if (problems.length === 0 && timeEnd !== null && timeEnd < time) {
    problems.push({ field: 'timeEnd', expected: 'no earlier than time' });
  }
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'change', change: changeOf(given, nowMs) };
}

/** A record of the topic, as this service and others write it. */
export function readChangeRecord(value: Buffer, writtenAtMs: number): ReadChange {
  let written: unknown;
  try {
    written = JSON.parse(value.toString());
  } catch {
    written = null;
  }
  return readChange(written, writtenAtMs);
}

function changeOf({ id, ...given }: Readonly<Record<string, unknown>>, nowMs: number): Deployment {
  const { time = nowMs, text, tags = [], labels = {}, series = null, link = null } = given as Partial<Deployment>;
  const { timeEnd = null } = given as Partial<Deployment>;
  const content = { time, timeEnd: timeEnd === time ? null : timeEnd, text: text!, tags, labels, series, link };
  const named = id === undefined ? digestOf(content) : String(id);
  return { id: named, ...content };
}

function digestOf(content: Omit<Deployment, 'id'>): string {
  const canonical = { ...content, labels: Object.entries(content.labels).sort() };
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 32);
}

function isLink(value: unknown): boolean {
  if (!isText(value, LIMITS.linkCharactersMax) || !URL.canParse(value)) return false;
  return ['http:', 'https:'].includes(new URL(value).protocol);
}
