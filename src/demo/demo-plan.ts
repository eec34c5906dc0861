import { readFileSync } from 'node:fs';

/** Event time of the demo: steps of five minutes since the epoch. */
export const STEP_MS = 5 * 60_000;
export const STEPS_PER_HOUR = 12;
export const STEPS_PER_DAY = 24 * STEPS_PER_HOUR;
export const STEPS_PER_WEEK = 7 * STEPS_PER_DAY;

/** The newest step whose event time is not after `timeMs`. */
export function stepAt(timeMs: number): number {
  return Math.floor(timeMs / STEP_MS);
}

/** Event time of a step, milliseconds since the epoch. */
export function timeOf(step: number): number {
  return step * STEP_MS;
}

export const DEMO_INCIDENT_KINDS = ['spike', 'level-shift', 'drift', 'stuck', 'dropped-season', 'burst'] as const;

export type DemoIncidentKind = (typeof DEMO_INCIDENT_KINDS)[number];

/** Faults of the records of the demo; incidents change their values. */
export type FaultKind = 'outage' | 'silence' | 'wrong-time';

/** The form of a metric, in its units; steps are five minutes. */
export interface Shape {
  readonly base: number;
  readonly daily: number;
  readonly weekly: number;
  /** Amplitude of a cycle of three hours, such as that of a cooling system; 0 where there is none. */
  readonly cycle: number;
  /** Deviation of the noise from step to step. */
  readonly noise: number;
  readonly decimals: number;
}

/** Each metric has one kind of incident, so that the name of a flagged series hints at what to look for. */
export interface DemoMetric {
  readonly name: string;
  readonly incident: DemoIncidentKind | null;
  readonly shape: Shape;
}

interface DemoPlan {
  /** Scored alone, of each of these owners. */
  readonly metrics: readonly (DemoMetric & { readonly of: readonly string[] })[];
  /** Metrics of one service that are scored together: incidents are small in each and large in all of them. */
  readonly group: { readonly name: string; readonly metrics: readonly DemoMetric[] };
  /** Owners that fail as a whole: the incidents of their series begin together, with that of the first one. */
  readonly failAsOne: readonly string[];
  /** Length of an incident, and its words for a person. */
  readonly incidents: Readonly<Record<DemoIncidentKind, { readonly steps: number; readonly cause: string }>>;
  /** Faults of records, from a step of the second day of each period; null: of every series. */
  readonly faults: readonly {
    readonly kind: FaultKind;
    readonly series: string | null;
    readonly step: number;
    readonly steps: number;
    readonly cause: string;
  }[];
}

/** Series, incidents and faults of the demo. */
export const DEMO_PLAN: DemoPlan = JSON.parse(readFileSync(new URL('./demo.json', import.meta.url), 'utf8'));
