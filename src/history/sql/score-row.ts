import { SCORE_STATES, type ScoreState } from '../../records/score-record.ts';
import type { KeptScore } from '../port/history-port.ts';
import type { ColumnType } from './history-database.ts';

const ALARM = 1;
const ANOMALY = 2;
const STATE_SHIFT = 2;

/** Alarm, anomaly and the place of the state in its list, in one small number. */
function flagsOfScore({ alarm, anomaly, state }: KeptScore): number {
  return (alarm ? ALARM : 0) | (anomaly ? ANOMALY : 0) | (SCORE_STATES.indexOf(state) << STATE_SHIFT);
}

export function scoreOfFlags(flags: number): Pick<KeptScore, 'alarm' | 'anomaly' | 'state'> {
  const state = stateAt(flags >> STATE_SHIFT);
  return { alarm: (flags & ALARM) !== 0, anomaly: (flags & ANOMALY) !== 0, state };
}

/** The state at a place of the list. A newer release may have stored one that is not known here. */
export function stateAt(place: number): ScoreState {
  return SCORE_STATES[place] ?? 'scored';
}

export const IS_ALARM = `(flags & ${ALARM}) <> 0`;
export const IS_ANOMALY = `(flags & ${ANOMALY}) <> 0`;
export const STATE_PLACE = `(flags >> ${STATE_SHIFT})`;

interface ScoreColumn {
  readonly name: string;
  readonly type: ColumnType;
  of(score: KeptScore): number | null;
}

/** Columns of a score except its series, in the order of the tables. */
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
