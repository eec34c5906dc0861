import type { ColumnType } from './history-database.ts';
import type { KeptScore } from './history-port.ts';

/** States by their number in `flags`; the order is stored, so it only grows. */
const STATES = ['warming-up', 'not-forecasted', 'calibrating', 'scored', 'silent', 'returned'] as const;
/** A series stopped, or sends again: no observation. */
const SILENCES: ReadonlySet<string> = new Set(['silent', 'returned']);
const SCORED = STATES.indexOf('scored');

const ALARM = 1;
const ANOMALY = 2;
const STATE_SHIFT = 2;

/** Alarm, anomaly and state in one small number. An unknown state of a newer release counts as scored. */
export function flagsOfScore({ alarm, anomaly, state }: KeptScore): number {
  const known = STATES.indexOf(state as (typeof STATES)[number]);
  const index = known === -1 ? SCORED : known;
  return (alarm ? ALARM : 0) | (anomaly ? ANOMALY : 0) | (index << STATE_SHIFT);
}

export function isObservation({ state }: Pick<KeptScore, 'state'>): boolean {
  return !SILENCES.has(state);
}

export function scoreOfFlags(flags: number): Pick<KeptScore, 'alarm' | 'anomaly' | 'state'> {
  const state = STATES[flags >> STATE_SHIFT] ?? 'scored';
  return { alarm: (flags & ALARM) !== 0, anomaly: (flags & ANOMALY) !== 0, state };
}

/** Conditions of SQL on `flags`. */
export const IS_ALARM = `(flags & ${ALARM}) <> 0`;
export const IS_ANOMALY = `(flags & ${ANOMALY}) <> 0`;

interface ScoreColumn {
  readonly name: string;
  readonly type: ColumnType;
  of(score: KeptScore): number | null;
}

/** Columns of a score beside its series, in the order of the tables. */
export const SCORE_COLUMNS: readonly ScoreColumn[] = [
  { name: 'time', type: 'int8', of: ({ timestampMs }) => timestampMs },
  { name: 'value', type: 'float8', of: ({ value }) => value },
  { name: 'forecast', type: 'float4', of: ({ forecast }) => forecast },
  { name: 'lo', type: 'float4', of: ({ lo }) => lo },
  { name: 'hi', type: 'float4', of: ({ hi }) => hi },
  { name: 'score', type: 'float4', of: ({ anomalyScore }) => anomalyScore },
  { name: 'grade', type: 'float4', of: ({ grade }) => grade },
  { name: 'severity', type: 'float4', of: ({ severity }) => severity },
  { name: 'flags', type: 'int2', of: flagsOfScore },
];
