import { canonicalId, type LabelledSeries, labelText, seriesOfId } from './series-id.ts';

/** Names of the rows of a list: shared parts of ids once, differing parts in each row. */
export interface ListedNames {
  /** Parts that rows leave out; empty if rows have whole ids. */
  readonly shared: readonly string[];
  of(id: string): string;
}

/** Ids up to this length fit a row. Lists without a longer one show whole ids. */
const WHOLE_CHARACTERS_MAX = 60;
/** Marks that turn text, take no space or look like others. Two names could differ by them alone. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u00a0\u115f\u1160\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u3164\ufeff]/gu;
/** Behind each separator, which stays with its part. */
const PARTS = /(?<=[/.:|;,])/;

/** An id as visible text: an invisible character as its number, outer and repeated spaces in quotes. */
export function visibleId(id: string): string {
  const text = id.replace(UNSEEN, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
  return /^\s|\s\s|\s$|^$/.test(text) ? `"${text}"` : text;
}

/** @param rows an id for each row, in any order */
export function listedNames(rows: readonly string[]): ListedNames {
  const ids = [...new Set(rows)];
  if (rows.length < 2 || ids.every((id) => id.length <= WHOLE_CHARACTERS_MAX)) return { shared: [], of: visibleId };
  const plain: string[] = [];
  const labelled = new Map<string, LabelledSeries>();
  for (const id of ids) {
    const series = seriesOfId(id);
    if (series.labels.length === 0) plain.push(id);
    else labelled.set(id, series);
  }
  // An id shares nothing with ids of another form.
  const isAlone = (count: number) => count === 1 && ids.length > 1;
  const families = [
    isAlone(labelled.size) ? NOTHING_SHARED : labelledNames(labelled),
    isAlone(plain.length) ? NOTHING_SHARED : plainNames(plain),
  ];
  const texts = new Map(families.flatMap(({ texts }) => [...texts]));
  const ofText = Map.groupBy(ids, (id) => texts.get(id) ?? visibleId(id));
  for (const [text, [id, ...others]] of ofText) {
    // Such as an id with its labels in another order.
    if (others.length > 0) for (const each of [id, ...others]) texts.set(each, visibleId(each));
    else texts.set(id, text);
  }
  return {
    shared: families.flatMap(({ shared }) => (shared === null ? [] : [visibleId(shared)])),
    of: (id) => texts.get(id) ?? visibleId(id),
  };
}

interface FamilyNames {
  readonly shared: string | null;
  readonly texts: ReadonlyMap<string, string>;
}

const NOTHING_SHARED: FamilyNames = { shared: null, texts: new Map() };

/** Labels that differ, as in the legend of a chart; the name of the metric if it differs, or nothing else is left. */
function labelledNames(series: ReadonlyMap<string, LabelledSeries>): FamilyNames {
  const [first, ...others] = series.values();
  if (first === undefined) return NOTHING_SHARED;
  const isSameName = others.every(({ name }) => name === first.name);
  const maps = others.map(({ labels }) => new Map(labels));
  const shared = first.labels.filter(([label, value]) => maps.every((labels) => labels.get(label) === value));
  const left = new Set(shared.map(([label]) => label));
  const texts = [...series].map(([id, { name, labels }]) => {
    const differing = labels.filter(([label]) => !left.has(label)).map(([label, value]) => pairText(label, value));
    const shownName = isSameName && differing.length > 0 ? [] : [visibleId(name)];
    return [id, [...shownName, differing.join(', ')].filter((part) => part !== '').join(' ')] as const;
  });
  const common = canonicalId(isSameName ? first.name : '', shared);
  return { shared: common === '' ? null : common, texts: new Map(texts) };
}

function pairText(label: string, value: string): string {
  const text = visibleId(value);
  return `${labelText(label)}=${/[",=]/.test(text) ? JSON.stringify(text) : text}`;
}

/** Ids without labels leave out the first and last parts that all share. */
function plainNames(ids: readonly string[]): FamilyNames {
  const all = ids.map((id) => id.split(PARTS));
  if (ids.length === 0 || ids.every((id) => id.length <= WHOLE_CHARACTERS_MAX)) return NOTHING_SHARED;
  if (ids.length === 1) return { shared: ids[0], texts: new Map([[ids[0], all[0].at(-1) ?? '']]) };
  const shortest = Math.min(...all.map(({ length }) => length));
  let first = 0;
  while (first < shortest - 1 && all.every((parts) => parts[first] === all[0][first])) first++;
  let last = 0;
  while (last < shortest - first - 1 && all.every((parts) => parts.at(-1 - last) === all[0].at(-1 - last))) last++;
  if (first + last === 0) return NOTHING_SHARED;
  const [begin, end] = [first > 0 ? '…' : '', last > 0 ? '…' : ''];
  const texts = ids.map((id, i) => {
    return [id, visibleId(`${begin}${all[i].slice(first, all[i].length - last).join('')}${end}`)] as const;
  });
  const [before, after] = [all[0].slice(0, first), all[0].slice(all[0].length - last)];
  return { shared: `${before.join('')}…${after.join('')}`, texts: new Map(texts) };
}
