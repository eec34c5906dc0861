import { meanStepMs } from '../../time/frequency.ts';
import { type Family, familiesOf } from './families.ts';
import type { SeriesColumns } from './series-columns.ts';
import { profileSeries } from './series-profile.ts';
import { judgeFamily, type NotWatched, type SuggestedDetector } from './suggested-detector.ts';

/** Detectors that are suggested for some data. */
export interface Suggestion {
  readonly series: number;
  readonly observations: number;
  readonly beginMs: number;
  readonly endMs: number;
  /** In the order of the file: the first one whose patterns match a series takes it. */
  readonly detectors: readonly SuggestedDetector[];
  readonly notWatched: readonly NotWatched[];
}

/** Detectors that are written by name; the others of a step are one. */
const DETECTORS_MAX = 200;
const NAME_LENGTH_MAX = 60;

/** Suggests how to watch each series. There must be an observation. @param onShare receives what is done, 0 to 1 */
export function suggest(columns: SeriesColumns, onShare: (share: number) => void = () => undefined): Suggestion {
  const profiles = Array.from(columns.all(), (column, i) => {
    onShare(i / columns.size);
    return profileSeries(column);
  });
  const beginMs = profiles.reduce((first, { firstMs }) => Math.min(first, firstMs), Number.POSITIVE_INFINITY);
  const endMs = profiles.reduce((last, { lastMs }) => Math.max(last, lastMs), Number.NEGATIVE_INFINITY);
  const verdicts = familiesOf(profiles).map((family) => judgeFamily(family, endMs));
  const found = verdicts.flatMap((verdict) => (verdict.kind === 'detector' ? [verdict.detector] : []));
  return {
    series: columns.size,
    observations: columns.observations,
    beginMs,
    endMs,
    detectors: named(bounded(found, endMs)),
    notWatched: verdicts.flatMap((verdict) => (verdict.kind === 'not-watched' ? [verdict.not] : [])),
  };
}

type Unnamed = Omit<SuggestedDetector, 'name'>;

/** The largest families have a detector each; small ones of a step and a kind share one, without rules of their own. */
function bounded(detectors: readonly Unnamed[], endMs: number): readonly Unnamed[] {
  if (detectors.length <= DETECTORS_MAX) return detectors;
  const bySize = detectors.toSorted((a, b) => b.family.members.length - a.family.members.length);
  const kept = new Set(bySize.slice(0, DETECTORS_MAX));
  const shared = Map.groupBy(
    bySize.slice(DETECTORS_MAX),
    ({ freq, as, aggregate }) => `${meanStepMs(freq)} ${as} ${aggregate}`,
  );
  const merged = [...shared.values()].flatMap((few): Unnamed[] => {
    const [{ freq }] = few;
    const members = few.flatMap(({ family }) => family.members);
    const patterns = few.flatMap(({ family }) => family.patterns);
    const verdict = judgeFamily({ name: `others-${freq.alias}`, patterns, freq, members }, endMs);
    if (verdict.kind !== 'detector') return [];
    return [{ ...verdict.detector, direction: 'both', minDeviation: null }];
  });
  return [...detectors.filter((detector) => kept.has(detector)), ...merged];
}

function named(detectors: readonly Unnamed[]): readonly SuggestedDetector[] {
  const names = new Set<string>();
  return detectors.map((detector) => {
    const base = wordOf(detector.family);
    let name = base;
    for (let i = 2; names.has(name); i++) name = `${base}-${i}`;
    names.add(name);
    return { name, ...detector };
  });
}

function wordOf({ name }: Family): string {
  const word = name.replaceAll(/[^a-zA-Z0-9._-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return word.slice(0, NAME_LENGTH_MAX - 6) || 'series';
}
