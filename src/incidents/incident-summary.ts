import { type Incident, isOriginKnown } from '../records/incident.ts';

type IncidentFacts = Pick<Incident, 'kind' | 'seriesCount' | 'usualCount' | 'origins'>;

/** One sentence that says what happened, and where it may have begun. */
export function incidentSummary({ kind, seriesCount, usualCount, origins }: IncidentFacts): string {
  const first = origins[0];
  const known = isOriginKnown(origins) ? `it may have begun in ${first.common ?? first.series}` : 'origin unknown';
  const began = first === undefined ? '' : `; ${known}`;
  switch (kind) {
    case 'pause':
      return `The input stopped: ${counted(seriesCount, 'detector')} without a value`;
    case 'simultaneous':
      return `${counted(seriesCount, 'series')} at once; usually ${usualCount ?? 0}${began}`;
    case 'related':
      return `${counted(seriesCount, 'series')} that belong together${began}`;
    case 'single':
      return `One event of ${first?.series ?? 'a series'}`;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${count === 1 || what === 'series' ? what : `${what}s`}`;
}
