import { DEMO_PLAN, type DemoIncidentKind, STEPS_PER_DAY } from './demo-plan.ts';

/** Steps `start <= step < end` of a series. */
export interface DemoIncident {
  readonly kind: DemoIncidentKind;
  readonly start: number;
  readonly end: number;
}

/**
 * Distance of a series' incidents, in steps; whole days. The calibration has forgotten the last incident by then. Each
 * incident comes at the same hour, when there is a season to lose.
 */
export const INCIDENT_PERIOD = 4 * STEPS_PER_DAY;

/**
 * The incident of a series at `step`; null when there is none. Incidents begin at `phase`, `phase + INCIDENT_PERIOD`,
 * ...
 */
export function incidentAt(kind: DemoIncidentKind, phase: number, step: number): DemoIncident | null {
  const since = (((step - phase) % INCIDENT_PERIOD) + INCIDENT_PERIOD) % INCIDENT_PERIOD;
  const { steps } = DEMO_PLAN.incidents[kind];
  return since >= steps ? null : { kind, start: step - since, end: step - since + steps };
}

/** The parts that a series is the sum of at one step. */
export interface Parts {
  readonly base: number;
  /** Distance from the base by hour and weekday. */
  readonly season: number;
  /** Distance from the base that does not depend on the time. */
  readonly noise: number;
}

/** A series without its incidents. */
interface Undisturbed {
  /** A distance that exceeds the noise. */
  readonly unit: number;
  readonly partsAt: (step: number) => Parts;
}

/** The value at `step` during an incident. */
export function disturbed(incident: DemoIncident, step: number, { unit, partsAt }: Undisturbed): number {
  const { base, season, noise } = partsAt(step);
  switch (incident.kind) {
    case 'spike':
      return base + season + noise + 4 * unit;
    case 'level-shift':
      return base + season + noise + 2 * unit;
    case 'drift':
      return base + season + noise + (unit * (step - incident.start + 1)) / 8;
    case 'stuck': {
      const frozen = partsAt(incident.start);
      return frozen.base + frozen.season + frozen.noise;
    }
    case 'dropped-season':
      return base + noise;
    case 'burst':
      return base + season + 8 * noise;
  }
}
