import { type EventRules, NO_RULES } from '../detector/event/event-rules.ts';
import { boolean, durationMs, type Kind, numberFrom, oneOf, textMatching, textOf } from './kinds.ts';
import { readTimes } from './times-section.ts';
import type { Section } from './yaml-section.ts';

const finite = numberFrom(-Number.MAX_VALUE, Number.MAX_VALUE);
const notNegative = numberFrom(0, Number.MAX_VALUE);
const percent: Kind<number> = textOf('a share in percent such as 10%', (text) => {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)%$/.exec(text);
  return match === null ? undefined : Number(match[1]) / 100;
});

/** Reads `events` of a detector: which alarms become events. */
export function readEventRules(section: Section): EventRules {
  const rules: EventRules = {
    direction: section.read('direction', oneOf('up', 'down', 'both')) ?? NO_RULES.direction,
    minDeviation: section.read('min_deviation', notNegative) ?? NO_RULES.minDeviation,
    minDeviationShare: section.read('min_deviation_share', percent) ?? NO_RULES.minDeviationShare,
    validRange: readRange(section, 'valid_range'),
    normalRange: readRange(section, 'normal_range'),
    minDurationMs: section.read('min_duration', durationMs) ?? NO_RULES.minDurationMs,
    coolDownMs: section.read('cool_down', durationMs) ?? NO_RULES.coolDownMs,
    onceInDrift: section.read('once_in_drift', boolean) ?? NO_RULES.onceInDrift,
    quiet: section.has('quiet') ? section.sections('quiet').flatMap((times) => readTimes(times) ?? []) : NO_RULES.quiet,
    stoppedAt: section.read('stopped_at', finite) ?? NO_RULES.stoppedAt,
  };
  section.close();
  return rules;
}

/** `{ min, max }`; one of both may be left out. */
function readRange(parent: Section, key: string): EventRules['validRange'] {
  if (!parent.has(key)) return null;
  const section = parent.section(key);
  const min = section.read('min', finite) ?? Number.NEGATIVE_INFINITY;
  const max = section.read('max', finite) ?? Number.POSITIVE_INFINITY;
  section.close();
  if (min >= max) section.problem('max', `above min (${min})`, max);
  if (!section.has('min') && !section.has('max')) parent.problem(key, 'a mapping with min, max or both', undefined);
  return { min, max };
}

const LABELS_MAX = 16;
const LABEL_CHARACTERS_MAX = 256;

/** Reads `labels` of a detector: texts by name. */
export function readLabels(section: Section): Readonly<Record<string, string>> {
  const text = textMatching(
    `text of 1 to ${LABEL_CHARACTERS_MAX} characters`,
    new RegExp(`^(?=[^]*\\S)[^]{1,${LABEL_CHARACTERS_MAX}}$`),
  );
  const names = section.keys();
  const labels = names.flatMap((name): [string, string][] => {
    const value = section.read(name, text);
    const isName = /^[a-zA-Z_][\w.-]{0,63}$/.test(name);
    if (!isName) section.problem(name, 'named by 1 to 64 letters, digits, dots, dashes or underscores', name);
    return isName && value !== undefined ? [[name, value]] : [];
  });
  if (names.length > LABELS_MAX)
    section.problem(names[LABELS_MAX], `one of at most ${LABELS_MAX} labels`, names.length);
  // Whatever its name, each becomes a property of its own.
  return Object.fromEntries(labels);
}
