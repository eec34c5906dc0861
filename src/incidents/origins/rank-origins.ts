import type { IncidentOrigin } from '../../record/incident.ts';
import { type Dependencies, type Dependency, type MetHints, NO_DEPENDENCIES } from '../membership/dependencies.ts';
import { type SeriesParts, sharedContexts } from '../membership/series-parts.ts';

/** How a series moved in an incident. */
export interface SeriesMove {
  readonly series: string;
  readonly parts: SeriesParts;
  /** How unusual it was at most, as the grade has it: see `strengthOf`. */
  readonly strength: number;
  /** The same of the time before the incident; null where it is not known. */
  readonly quiet: number | null;
  /** It hardly varied before, so that its strength says only that it moved. */
  readonly isFlat: boolean;
  /** When it began to alarm; null where it moved without an alarm. */
  readonly startedAtMs: number | null;
  /** What was seen, such as `38 where 13 was expected`. */
  readonly seen: string | null;
  /** In how many of the earlier incidents that it had in common with the others it was first. */
  readonly led: { readonly count: number; readonly of: number } | null;
}

export const ORIGINS_MAX = 5;
/** What most series show at most in a quiet time. */
const QUIET_STRENGTH = 12;
/** So much unusualness is nothing: it keeps quiet series from weighing too much. */
const ORDINARY = 8;
/** What a series can weigh that hardly varied before. */
const FLAT_WEIGHT = 1;
/** This share of what the middle one of its siblings shows is common to all of them. */
const SIBLING_SHARE = 0.5;
const SIBLINGS_MIN = 3;
/** Half of the most that a series can weigh is reached here. */
const WEIGHT_HALF = 3;
/** The second series of what they have in common counts half: two that are odd say more than one. */
const SECOND_SHARE = 0.5;
/** What others of the incident depend on, by a hint, counts so many times, however many hints say so. */
export const DEPENDED_ON_TIMES = 1.25;
/** Hints that are told of one candidate. */
const HINTS_TOLD_MAX = 2;
/** Labels that name what fails, in this order. */
const FAILING_LABELS = [
  'service',
  'service_name',
  'app',
  'component',
  'host',
  'hostname',
  'node',
  'instance',
  'pod',
  'job',
];

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
  /** When the first of its series began to alarm; Infinity: none did. */
  readonly firstAtMs: number;
  /** Hints that were met, in words. */
  readonly hints: readonly string[];
}

/**
 * Ranks what the series of an incident have in common by how far they left their own past, beyond what their siblings
 * did: the same metric elsewhere. Several odd series of one host say more than one that is very odd.
 */
export function rankOrigins(
  moves: readonly SeriesMove[],
  dependencies: Dependencies = NO_DEPENDENCIES,
): readonly IncidentOrigin[] {
  const common = commonDimension(moves);
  const raw = moves.map(weightOf);
  const ofSiblings = siblingWeights(moves, raw);
  const groups = Map.groupBy(moves.keys(), (i) => partOf(moves[i], common) ?? `\u0000${moves[i].series}`);
  const unhinted = [...groups.values()].map((indexes): OriginCandidate => {
    const weighed = indexes
      .map((i) => [saturated(raw[i] - ofSiblings(moves[i])), moves[i]] as const)
      .sort(([a, one], [b, other]) => b - a || (one.series < other.series ? -1 : 1));
    const weight = weighed[0][0] + SECOND_SHARE * (weighed[1]?.[0] ?? 0);
    const firstAtMs = Math.min(...indexes.map((i) => moves[i].startedAtMs ?? Number.POSITIVE_INFINITY));
    return { common: partOf(weighed[0][1], common), moves: weighed, weight, firstAtMs, hints: [] };
  });
  const candidates = withHints(unhinted, dependencies);
  candidates.sort((a, b) => b.weight - a.weight || (a.moves[0][1].series < b.moves[0][1].series ? -1 : 1));
  const most = candidates[0]?.weight ?? 0;
  return candidates.slice(0, ORIGINS_MAX).map((candidate, i) => ({
    series: candidate.moves[0][1].series,
    common: candidate.common,
    score: most === 0 ? 0 : Math.round((1_000 * candidate.weight) / most) / 1_000,
    evidence: evidenceOf(candidate, candidates, i),
  }));
}

/** Hints count for what moved, and no later than what depends on it. */
function withHints(candidates: readonly OriginCandidate[], dependencies: Dependencies): OriginCandidate[] {
  if (dependencies.hints.length === 0) return [...candidates];
  const met = candidates.map(({ moves }) => {
    const all = moves.map(([, { parts }]) => dependencies.metBy(sharedContexts(parts)));
    const numbers = (side: keyof MetHints) => new Set(all.flatMap((each) => each[side]));
    return { dependent: numbers('dependent'), dependedOn: numbers('dependedOn') };
  });
  return candidates.map((candidate, i) => {
    if (candidate.weight === 0 || !Number.isFinite(candidate.firstAtMs)) return candidate;
    const hints = [...met[i].dependedOn]
      .toSorted((a, b) => a - b)
      .flatMap((hint) => {
        const followers = candidates.filter((other, j) => {
          return i !== j && other.weight > 0 && met[j].dependent.has(hint) && candidate.firstAtMs <= other.firstAtMs;
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

/** How far a series left its own past: 0 where it did not, log 2 for twice as far. */
export function weightOf(move: SeriesMove): number {
  const weight = Math.max(0, Math.log(unusualness(move)));
  return move.isFlat ? Math.min(weight, FLAT_WEIGHT) : weight;
}

/** How many times as unusual as in its quiet time. */
export function unusualness({ strength, quiet }: Pick<SeriesMove, 'strength' | 'quiet'>): number {
  return (strength + ORDINARY) / ((quiet ?? QUIET_STRENGTH) + ORDINARY);
}

function saturated(weight: number): number {
  return weight <= 0 ? 0 : weight / (weight + WEIGHT_HALF);
}

/** What the middle series of the same metric weighs, where there are enough of them. */
function siblingWeights(moves: readonly SeriesMove[], raw: readonly number[]): (move: SeriesMove) => number {
  const middles = new Map<string, number>();
  for (const [metric, indexes] of Map.groupBy(moves.keys(), (i) => moves[i].parts.metric)) {
    if (metric === null || indexes.length < SIBLINGS_MIN) continue;
    const weights = indexes.map((i) => raw[i]).sort((a, b) => a - b);
    middles.set(metric, weights[weights.length >> 1]);
  }
  return ({ parts: { metric } }) => (metric === null ? 0 : SIBLING_SHARE * (middles.get(metric) ?? 0));
}

/** The dimension that says what failed: a label, or the parts of the names before the last one. */
function commonDimension(moves: readonly SeriesMove[]): string | null {
  const values = new Map<string, Set<string>>();
  for (const { parts } of moves) {
    for (const { name, value } of parts.dimensions) {
      const known = values.get(name);
      if (known === undefined) values.set(name, new Set([value]));
      else known.add(value);
    }
  }
  const differing = [...values].filter(([, { size }]) => size > 1);
  const named = FAILING_LABELS.find((label) => differing.some(([name]) => name === label));
  if (named !== undefined) return named;
  // The finest that is still shared by some.
  const shared = (differing.length > 0 ? differing : [...values]).filter(([, { size }]) => size < moves.length);
  const finest = shared.toSorted(([a, one], [b, other]) => other.size - one.size || (a < b ? -1 : 1))[0];
  return finest?.[0] ?? values.keys().next().value ?? null;
}

function partOf({ parts }: SeriesMove, dimension: string | null): string | null {
  return parts.dimensions.find(({ name }) => name === dimension)?.value ?? null;
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
  else if (farthest.quiet === null) evidence.push(`${farthest.series} is ${rank === 0 ? 'farthest out' : 'far out'}`);
  else {
    evidence.push(
      `${farthest.series} is ${unusualness(farthest).toPrecision(2)} times as unusual as it was in its quiet time`,
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
