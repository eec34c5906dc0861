import { DEMO_PLAN } from './demo-plan.ts';
import { DEMO_SERIES, incidentOf } from './demo-series.ts';
import { STEPS_PER_HOUR, stepAt } from './demo-time.ts';
import { faultOf } from './faults.ts';

/** The end of an incident is as abrupt as its start: forecasts made during it expect it to continue. */
const AFTERMATH_STEPS = 4 * STEPS_PER_HOUR;

const seriesById = new Map(DEMO_SERIES.map((series) => [series.id, series]));

/** The incident, or fault, that explains a flag; null where there is none and the flag is a false alarm. */
export function causeOf({ series, timestampMs }: { readonly series: string; readonly timestampMs: number }) {
  const step = stepAt(timestampMs);
  for (let back = 0; back <= AFTERMATH_STEPS; back++) {
    const cause = doneAt(series, step - back);
    if (cause !== null) return back === 0 ? cause : `after: ${cause}`;
  }
  return null;
}

function doneAt(id: string, step: number): string | null {
  const series = seriesById.get(id);
  if (series === undefined) return null;
  const incident = incidentOf(series, step);
  return incident === null ? (faultOf(id, step)?.cause ?? null) : DEMO_PLAN.incidents[incident.kind].cause;
}
