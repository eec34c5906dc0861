import type { ScoreRecord } from '../records/score-record.ts';
import { type ScoreLineStyle, scoreLine } from '../tools/terminal/score-line.ts';
import type { DemoIncidentKind } from './demo-incidents.ts';
import { DEMO_SERIES, incidentOf } from './demo-series.ts';
import { STEPS_PER_HOUR, stepAt } from './demo-time.ts';
import { type FaultKind, faultOf } from './faults.ts';

/** The end of an incident is as abrupt as its start: forecasts made during it expect it to continue. */
const AFTERMATH_STEPS = 4 * STEPS_PER_HOUR;

const seriesById = new Map(DEMO_SERIES.map((series) => [series.id, series]));

/** A score beside what the demo did to its series. */
export function flaggedLine(score: ScoreRecord, style: ScoreLineStyle): string {
  const cause = causeOf(score);
  return cause === null ? scoreLine(score, style) : `${scoreLine(score, style)}  ${cause}`;
}

/** The incident, or fault, that explains a flag; null where there is none and the flag is a false alarm. */
export function causeOf({ series: id, timestampMs }: Pick<ScoreRecord, 'series' | 'timestampMs'>): string | null {
  const step = stepAt(timestampMs);
  const during = doneAt(id, step);
  if (during !== null) return during;
  for (let back = 1; back <= AFTERMATH_STEPS; back++) {
    const before = doneAt(id, step - back);
    if (before !== null) return `after: ${before}`;
  }
  return null;
}

function doneAt(id: string, step: number): string | null {
  const series = seriesById.get(id);
  const incident = series === undefined ? null : incidentOf(series, step);
  if (incident !== null) return CAUSES[incident.kind];
  const fault = series === undefined ? null : faultOf(id, step);
  return fault === null ? null : CAUSES[fault.kind];
}

const CAUSES: Readonly<Record<DemoIncidentKind | FaultKind, string>> = {
  spike: 'spike',
  'level-shift': 'level shift',
  drift: 'drift',
  stuck: 'stuck value',
  'dropped-season': 'lost season',
  burst: 'burst',
  outage: 'outage',
  silence: 'series that stopped',
  'wrong-time': 'wrong time',
};
