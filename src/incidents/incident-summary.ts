import { type Incident, isOriginKnown } from '../records/incident.ts';

type IncidentFacts = Pick<Incident, 'kind' | 'seriesCount' | 'usualCount' | 'origins'>;

/** Returns one sentence with what happened and the likely origin. */
export function incidentSummary({ kind, seriesCount, usualCount, origins }: IncidentFacts): string {
  const first = origins[0];
  const known = isOriginKnown(origins) ? `likely origin ${first.common ?? first.series}` : 'origin unknown';
  const began = first === undefined ? '' : `; ${known}`;
  switch (kind) {
    case 'pause':
      return `The input stopped: ${counted(seriesCount, 'detector')} without a value`;
    case 'simultaneous':
      return `${counted(seriesCount, 'series')} at once; usually ${usualCount ?? 0}${began}`;
    case 'related':
      return `${seriesCount} related series${began}`;
    case 'single':
      return `One event of ${first?.series ?? 'a series'}`;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${count === 1 || what === 'series' ? what : `${what}s`}`;
}
