import { canonicalId, NAME_LABEL, seriesOfId } from '../../records/series/series-id.ts';
import { readPattern, type SeriesPattern, seriesPattern } from '../../records/series/series-pattern.ts';
import { type Frequency, meanStepMs } from '../../time/frequency.ts';
import { type SeriesProfile, STEP_SHARE_MAX } from './series-profile.ts';

/** Series that belong together: by name, and by their step. */
export interface Family {
  /** Common part of their names. */
  readonly name: string;
  /** Globs or matchers for `series` of a detector. */
  readonly patterns: readonly string[];
  readonly freq: Frequency | null;
  readonly members: readonly SeriesProfile[];
}

/** Families of names that are written out; further series of another step are named together. */
const IDS_LISTED_MAX = 100;
/** So many last parts of ids are names of what is measured; more are those of instances. */
const PARTS_MAX = 20;
const GLOB_CHARACTERS = /[*?]/;

interface Named {
  readonly name: string;
  readonly pattern: string;
}

/** Divides series into families. Every series is in one, and the first family whose patterns take it is its own. */
export function familiesOf(profiles: readonly SeriesProfile[]): Family[] {
  const nameOf = namesBy(profiles.map(({ id }) => id));
  const byPattern = Map.groupBy(profiles, ({ id }) => nameOf(id).pattern);
  const families = [...byPattern].flatMap(([pattern, members]) =>
    byStep({ name: nameOf(members[0].id).name, pattern }, members),
  );
  return apart(families.sort(specificFirst));
}

/** Members that a pattern before that of their family takes are listed before all patterns. */
function apart(families: readonly Family[]): Family[] {
  const familyOf = familyIndex(families);
  const listed: Family[] = [];
  const kept = families.map((family, at): Family => {
    const lost = family.members.filter(({ id }) => familyOf(id) !== at);
    if (lost.length === 0) return family;
    for (let from = 0; from < lost.length; from += IDS_LISTED_MAX) {
      const members = lost.slice(from, from + IDS_LISTED_MAX);
      listed.push({ ...family, patterns: members.map(({ id }) => exactly(id)), members });
    }
    return { ...family, members: family.members.filter(({ id }) => familyOf(id) === at) };
  });
  return [...listed, ...kept.filter(({ members }) => members.length > 0)];
}

/** The number of the first family whose patterns take a series, as the detectors of a file do; -1 without one. */
function familyIndex(families: readonly Pick<Family, 'patterns'>[]): (series: string) => number {
  const byId = new Map<string, number>();
  const byName = new Map<string, number>();
  // Thousands of globs: only those are tried that begin as the series does.
  const byPrefix = new Map<string, { at: number; pattern: SeriesPattern }[]>();
  const keep = (index: Map<string, number>, key: string, at: number) => index.has(key) || index.set(key, at);
  for (const [at, { patterns }] of families.entries()) {
    for (const text of patterns) {
      const name = nameMatched(text);
      if (name !== null) keep(byName, name, at);
      else if (!GLOB_CHARACTERS.test(text) && !text.startsWith('{')) keep(byId, text, at);
      else {
        const prefix = text.startsWith('{') ? '' : text.slice(0, text.search(GLOB_CHARACTERS));
        byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), { at, pattern: seriesPattern([text]) }]);
      }
    }
  }
  return (series) => {
    let first = Math.min(byId.get(series) ?? Infinity, byName.get(seriesOfId(series).name) ?? Infinity);
    for (let length = 0; length <= series.length; length++) {
      for (const { at, pattern } of byPrefix.get(series.slice(0, length)) ?? []) {
        if (at < first && pattern.test(series)) first = at;
      }
    }
    return first === Infinity ? -1 : first;
  };
}

/** The name of the metric, where a pattern is that alone. */
function nameMatched(pattern: string): string | null {
  const read = readPattern(pattern);
  if (read.kind !== 'matchers' || read.matchers.length !== 1) return null;
  const [{ label, operator, value }] = read.matchers;
  return label === NAME_LABEL && operator === '=' ? value : null;
}

/** If series of one name have several steps, the most frequent one has the pattern; the others are listed. */
function byStep({ name, pattern }: Named, members: readonly SeriesProfile[]): Family[] {
  const steps: { freq: Frequency | null; members: SeriesProfile[] }[] = [];
  for (const member of members) {
    const same = steps.find(({ freq }) => sameStep(freq, member.freq));
    if (same === undefined) steps.push({ freq: member.freq, members: [member] });
    else same.members.push(member);
  }
  steps.sort((a, b) => b.members.length - a.members.length);
  // What has no step is watched as its family is.
  const usual = steps.find(({ freq }) => freq !== null) ?? steps[0];
  const others = steps.filter((step) => step !== usual);
  const without = others.filter(({ freq }) => freq === null).flatMap((step) => step.members);
  const listed = others.filter(({ freq }) => freq !== null);
  const small = listed.filter((step) => step.members.length > IDS_LISTED_MAX).flatMap((step) => step.members);
  return [
    { name, patterns: [pattern], freq: usual.freq, members: [...usual.members, ...without, ...small] },
    ...listed
      .filter((step) => step.members.length <= IDS_LISTED_MAX)
      .map(({ freq, members: few }) => {
        return { name: `${name}-${freq?.alias}`, patterns: few.map(({ id }) => exactly(id)), freq, members: few };
      }),
  ];
}

function sameStep(a: Frequency | null, b: Frequency | null): boolean {
  if (a === null || b === null) return a === b;
  const [one, other] = [meanStepMs(a), meanStepMs(b)];
  return a.kind === b.kind && Math.abs(one - other) <= STEP_SHARE_MAX * Math.min(one, other);
}

/** A text that takes this series. */
function exactly(id: string): string {
  if (!GLOB_CHARACTERS.test(id) && !id.trimStart().startsWith('{') && id.trim() !== '') return id;
  const { name, labels } = seriesOfId(id);
  return canonicalId('', [[NAME_LABEL, name], ...labels]);
}

/** Listed ids come before names of metrics, those before globs, and long globs before short ones. */
function specificFirst(a: Family, b: Family): number {
  const length = ({ patterns }: Family) => patterns[0].replaceAll('*', '').length;
  const rank = ({ patterns, members }: Family) =>
    patterns.length > 1 || patterns[0] === exactly(members[0].id) ? 0 : patterns[0].startsWith('{') ? 1 : 2;
  return rank(a) - rank(b) || length(b) - length(a) || (a.name < b.name ? -1 : 1);
}

/** Naming of series: those with labels by their metric, others by the parts between slashes. */
function namesBy(ids: readonly string[]): (id: string) => Named {
  const plain = ids.filter((id) => !hasLabels(id));
  const lastParts = new Set(plain.filter(isParted).map((id) => partsOf(id).at(-1)!));
  const byLast = lastParts.size <= PARTS_MAX;
  return (id) => {
    if (hasLabels(id)) {
      const { name } = seriesOfId(id);
      return { name, pattern: canonicalId('', [[NAME_LABEL, name]]) };
    }
    if (isMeta(id)) return { name: 'series', pattern: exactly(id) };
    if (!isParted(id)) return byNumbers(id);
    const parts = partsOf(id);
    if (byLast) return { name: parts.at(-1)!, pattern: `*/${parts.at(-1)}` };
    const { name, pattern } = byNumbers(parts[0]);
    return { name, pattern: `${pattern}/*` };
  };
}

function hasLabels(id: string): boolean {
  return seriesOfId(id).labels.length > 0;
}

/** An id that would mean something else in a pattern. */
function isMeta(id: string): boolean {
  return exactly(id) !== id;
}

function partsOf(id: string): readonly string[] {
  return id.split('/');
}

function isParted(id: string): boolean {
  const parts = partsOf(id);
  return parts.length > 1 && parts[0] !== '' && parts.at(-1) !== '';
}

/** Digits, and long runs of hexadecimal ones, distinguish instances. */
function byNumbers(id: string): Named {
  const pattern = id.replaceAll(/[0-9a-f]{8,}|\d+/g, '*').replaceAll(/\*[-_.:]?(?=\*)/g, '');
  const name = pattern.replaceAll('*', '').replaceAll(/^[-_.:]+|[-_.:]+$/g, '') || 'series';
  return pattern.replaceAll('*', '') === '' ? { name, pattern: exactly(id) } : { name, pattern };
}
