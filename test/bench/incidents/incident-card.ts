/** How good incidents are: where they begin, and which service they rank first. The same figures as score.py has. */

import { isOriginKnown } from '../../../src/records/incident.ts';
import type { IncidentLine } from '../../../src/tools/backtest/backtest-incidents.ts';

/** A case with a fault: the row it begins at, and the service that it is in. */
export interface FaultCase {
  readonly name: string;
  readonly set: string;
  readonly file: string;
  readonly step_ms: number;
  readonly onset_row: number;
  readonly service: string;
}

/** What stands for a case: incidents that were found, or a ranking that was given the onset. */
export interface CaseResult {
  readonly incidents: readonly Pick<IncidentLine, 'startedAt' | 'origins'>[];
}

export interface CaseCard {
  readonly set: string;
  /** Place of the true service, from 1; infinite where it is not among the origins. */
  readonly place: number;
  readonly found: boolean;
  /** Its ranking has a first one that stands out. */
  readonly known: boolean;
  readonly before: number;
  readonly pieces: number;
}

export interface IncidentFigures {
  readonly found: number;
  readonly ac1: number;
  readonly ac3: number;
  readonly avg5: number;
  readonly pieces: number;
  readonly before: number;
  /** Share of the rankings without a first one that stands out, and AC@1 among the others. */
  readonly unknown: number;
  readonly ac1Known: number;
}

const FIRST_MS = Date.UTC(2026, 0, 1);
/** An incident may begin so many rows before the onset. */
const EARLY_ROWS = 2;
const RANKS = [1, 2, 3, 4, 5];

/** The rows of a case begin with what a detector does not know yet: its first half is not counted. */
export function caseCard({ set, step_ms, onset_row, service }: FaultCase, { incidents }: CaseResult): CaseCard {
  const rowOf = (startedAt: string) => (Date.parse(startedAt) - FIRST_MS) / step_ms;
  const inOrder = incidents.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  const after = inOrder.filter(({ startedAt }) => rowOf(startedAt) >= onset_row - EARLY_ROWS);
  const before = inOrder.filter(({ startedAt }) => {
    return rowOf(startedAt) >= onset_row / 2 && rowOf(startedAt) < onset_row - EARLY_ROWS;
  });
  const services = [...new Set((after[0]?.origins ?? []).map(({ series }) => serviceOf(series)))];
  const at = services.indexOf(service);
  return {
    set,
    place: at === -1 ? Number.POSITIVE_INFINITY : at + 1,
    found: services.length > 0,
    known: isOriginKnown(after[0]?.origins ?? []),
    before: before.length,
    pieces: after.length,
  };
}

export function serviceOf(series: string): string {
  return series.slice(0, series.lastIndexOf('/'));
}

export function incidentFigures(cards: readonly CaseCard[]): IncidentFigures {
  const known = cards.filter((card) => card.known);
  const mean = (of: (card: CaseCard) => number) => cards.reduce((sum, card) => sum + of(card), 0) / cards.length;
  const within = (rank: number) => mean(({ place }) => (place <= rank ? 1 : 0));
  return {
    found: mean(({ found }) => (found ? 1 : 0)),
    ac1: within(1),
    ac3: within(3),
    avg5: RANKS.reduce((sum, rank) => sum + within(rank), 0) / RANKS.length,
    pieces: mean(({ pieces }) => pieces),
    before: mean((card) => card.before),
    unknown: 1 - known.length / cards.length,
    ac1Known: known.filter(({ place }) => place === 1).length / Math.max(1, known.length),
  };
}
