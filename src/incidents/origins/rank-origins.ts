import type { Dependency } from '../../records/dependency.ts';
import type { IncidentOrigin } from '../../records/incident.ts';
import { type Dependencies, type MetHints, NO_DEPENDENCIES } from '../membership/dependencies.ts';
import { type SeriesParts, sharedContexts } from '../membership/series-parts.ts';
import { componentsOf } from './component-split.ts';

export interface SeriesMove {
  readonly series: string;
  readonly parts: SeriesParts;
  /** The highest one. */
  readonly grade: number;
  /** Grade that an alarm of the series requires; null in events of earlier versions. */
  readonly threshold: number | null;
  /** It hardly varied before, or its value is stuck: the grade does not show how far it moved. */
  readonly isFlat: boolean;
  readonly firstAlarmAtMs: number;
  /** Observed and expected value, such as `38 where 13 was expected`. */
  readonly seen: string | null;
  /** In how many of the earlier incidents that it had in common with the others it was first. */
  readonly led: { readonly count: number; readonly of: number } | null;
}

export const ORIGINS_MAX = 5;
/**
 * Weight of a series whose distance is unknown. In a tail where twice as far is half as often, it is the mean weight of
 * events beyond the threshold.
 */
const FLAT_WEIGHT = 1;
/** Grades are rounded: the tail behind the largest one is no shorter. */
const TAIL_MIN = 1e-5;
/** Fewer siblings have no middle one. */
const SIBLINGS_MIN = 3;
/** Factor for an origin that others of the incident depend on by a hint, however many hints match. */
export const DEPENDED_ON_TIMES = 1.25;
/** Most hints in the evidence of one candidate. */
const HINTS_TOLD_MAX = 2;

/** The strength behind a grade: the inverse of its map. */
export function strengthOf(grade: number | null): number | null {
  if (grade === null) return null;
  return grade >= 1 ? STRENGTH_MAX : Math.min(STRENGTH_MAX, (GRADE_HALF * grade) / (1 - grade));
}

const GRADE_HALF = 14;
/** That of a series that did not vary before. */
export const STRENGTH_MAX = 1e6;

interface OriginCandidate {
  readonly common: string | null;
  readonly moves: readonly (readonly [weight: number, move: SeriesMove])[];
  readonly weight: number;
  readonly firstAtMs: number;
  /** Hints that match, in words. */
  readonly hints: readonly string[];
}

/**
 * Ranks the parts of a fleet by how improbable their events are together. 1 - grade is the tail that a series is in:
 * its weight is the logarithm of the tail at its threshold over this one. Series of one part are not independent, and
 * one part has more of them than another: the second largest weight counts half, the third a third, and so on.
 *
 * Scores are shares of the odds of all candidates, those that are not listed among them.
 */
export function rankOrigins(
  moves: readonly SeriesMove[],
  dependencies: Dependencies = NO_DEPENDENCIES,
): readonly IncidentOrigin[] {
  const componentOf = componentsOf(moves);
  const weightIn = weightsBeyondSiblings(moves);
  const groups = Map.groupBy(moves, (move) => componentOf(move) ?? `\u0000${move.series}`);
  const unhinted = [...groups.values()].map((group): OriginCandidate => {
    const weighed = group
      .map((move) => [weightIn(move), move] as const)
      .sort(([a, one], [b, other]) => b - a || (one.series < other.series ? -1 : 1));
    const weight = weighed.reduce((sum, [each], i) => sum + each / (i + 1), 0);
    const firstAtMs = Math.min(...group.map((move) => move.firstAlarmAtMs));
    return { common: componentOf(weighed[0][1]), moves: weighed, weight, firstAtMs, hints: [] };
  });
  const candidates = withHints(unhinted, dependencies);
  candidates.sort(
    (a, b) =>
      b.weight - a.weight || a.firstAtMs - b.firstAtMs || (a.moves[0][1].series < b.moves[0][1].series ? -1 : 1),
  );
  const odds = candidates.reduce((sum, { weight }) => sum + Math.expm1(weight), 0);
  return candidates.slice(0, ORIGINS_MAX).map((candidate, i) => ({
    series: candidate.moves[0][1].series,
    common: candidate.common,
    score: odds === 0 ? 0 : Math.round((1_000 * Math.expm1(candidate.weight)) / odds) / 1_000,
    evidence: evidenceOf(candidate, candidates, i),
  }));
}

/** Hints count for what moved, and no later than what depends on it. */
function withHints(candidates: readonly OriginCandidate[], dependencies: Dependencies): OriginCandidate[] {
  if (dependencies.hints.length === 0) return [...candidates];
  const matched = candidates.map(({ moves }) => {
    const all = moves.map(([, { parts }]) => dependencies.metBy(sharedContexts(parts)));
    const numbers = (side: keyof MetHints) => new Set(all.flatMap((each) => each[side]));
    return { dependent: numbers('dependent'), dependedOn: numbers('dependedOn') };
  });
  return candidates.map((candidate, i) => {
    if (candidate.weight === 0) return candidate;
    const hints = [...matched[i].dependedOn]
      .toSorted((a, b) => a - b)
      .flatMap((hint) => {
        const followers = candidates.filter((other, j) => {
          return (
            i !== j && other.weight > 0 && matched[j].dependent.has(hint) && candidate.firstAtMs <= other.firstAtMs
          );
        });
        if (followers.length === 0) return [];
        const { labels, on } = dependencies.hints[hint];
        const isFirst = followers.every(({ firstAtMs }) => candidate.firstAtMs < firstAtMs);
        return [`${labelsText(labels)} depends on ${labelsText(on)}${isFirst ? ', which moved first' : ''}`];
      });
    return hints.length === 0 ? candidate : { ...candidate, weight: DEPENDED_ON_TIMES * candidate.weight, hints };
  });
}

function labelsText(labels: Dependency['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(' ');
}

/** Returns how far an event is beyond its threshold: 0 at it, log 2 for twice as far. */
export function weightOf(move: Pick<SeriesMove, 'grade' | 'threshold' | 'isFlat'>): number {
  const weight = Math.max(0, Math.log(unusualness(move)));
  return move.isFlat ? FLAT_WEIGHT : weight;
}

/** Returns how many times as unusual it is as an alarm requires. */
function unusualness({ grade, threshold }: Pick<SeriesMove, 'grade' | 'threshold'>): number {
  return (1 - (threshold ?? 0)) / Math.max(1 - grade, TAIL_MIN);
}

/** Less what the middle series of the same metric weighs: that is common to all of them. */
function weightsBeyondSiblings(moves: readonly SeriesMove[]): (move: SeriesMove) => number {
  const common = new Map<string, number>();
  for (const [metric, siblings] of Map.groupBy(moves, ({ parts }) => parts.metric)) {
    if (metric === null || siblings.length < SIBLINGS_MIN) continue;
    const weights = siblings.map(weightOf).sort((a, b) => a - b);
    common.set(metric, weights[(weights.length - 1) >> 1]);
  }
  return (move) => Math.max(0, weightOf(move) - (common.get(move.parts.metric ?? '') ?? 0));
}

function evidenceOf(
  { moves, weight, firstAtMs, hints }: OriginCandidate,
  all: readonly OriginCandidate[],
  rank: number,
): readonly string[] {
  if (weight === 0) return [];
  const evidence: string[] = [];
  const others = Math.min(...all.filter((other) => other.moves !== moves).map((other) => other.firstAtMs));
  if (firstAtMs < others) {
    const ahead = Number.isFinite(others) ? `, ${seconds(others - firstAtMs)} before the others` : '';
    evidence.push(`first to move${ahead}`);
  }
  const [, farthest] = moves[0];
  if (farthest.isFlat) evidence.push(`${farthest.series} hardly varied before and moved`);
  else if (farthest.threshold === null)
    evidence.push(`${farthest.series} is ${rank === 0 ? 'farthest out' : 'far out'}`);
  else {
    evidence.push(
      `${farthest.series} is ${unusualness(farthest).toPrecision(2)} times as unusual as an alarm requires`,
    );
  }
  if (farthest.seen !== null) evidence.push(farthest.seen);
  evidence.push(...hints.slice(0, HINTS_TOLD_MAX));
  const odd = moves.filter(([each]) => each > 0).length;
  if (odd > 1) evidence.push(`${odd} of its series moved`);
  const led = moves.map(([, each]) => each.led).find((each) => each !== null && each.count > 0);
  if (led) evidence.push(`the others followed it in ${led.count} of ${led.of} earlier incidents`);
  return evidence;
}

function seconds(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 3_600_000)} hours`;
}
