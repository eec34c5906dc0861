import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { IncidentOrigin } from '../records/incident.ts';
import { toldMoves } from './incident-member.ts';
import type { Dependencies } from './membership/dependencies.ts';
import { rankOrigins, unusualness, weightOf } from './origins/rank-origins.ts';
import { moveOf, type ScoredRange } from './origins/series-move.ts';

/** A series without an event of the incident has moved where it is so many times as unusual as in it usually is. */
const MOVED_TIMES = 2;
const MOVED_MAX = 20;

/** A series that moved without an event. */
interface MovedSeries {
  readonly series: string;
  /** How many times as unusual as it usually is. */
  readonly times: number;
}

export interface ScoredRanking {
  readonly origins: readonly IncidentOrigin[];
  /** Those that moved farthest first. */
  readonly moved: readonly MovedSeries[];
}

/** Events of the incident, and of other ones at the same time. */
interface RankedEvents {
  readonly events: readonly AnomalyEvent[];
  readonly others: readonly AnomalyEvent[];
  readonly dependencies: Dependencies;
}

/**
 * Ranks by the scores of all series what the events of an incident alone may not show: a series may have moved without
 * an alarm. Series that belong to other incidents are left out.
 */
export function rankWithScores(
  ranges: readonly ScoredRange[],
  { events, others, dependencies }: RankedEvents,
): ScoredRanking {
  const own = seriesOf(events);
  const elsewhere = seriesOf(others);
  const told = toldMoves(events);
  const moves = ranges
    .filter(({ series }) => own.has(series) || !elsewhere.has(series))
    .map((range) => moveOf(range, told.get(range.series) ?? null));
  const moved = moves
    .filter((move) => !own.has(move.series) && move.usual !== null && weightOf(move) >= Math.log(MOVED_TIMES))
    .map((move) => ({ series: move.series, times: Number(unusualness(move).toPrecision(2)) }))
    .sort((a, b) => b.times - a.times || (a.series < b.series ? -1 : 1));
  return { origins: rankOrigins(moves, dependencies), moved: moved.slice(0, MOVED_MAX) };
}

function seriesOf(events: readonly AnomalyEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap(({ series, members }) => [
      ...(series === null ? [] : [series]),
      ...members.map((each) => each.series),
    ]),
  );
}
