import { type DemoIncident, disturbed, INCIDENT_PERIOD, incidentAt, type Parts } from './demo-incidents.ts';
import {
  DEMO_PLAN,
  type DemoIncidentKind,
  type DemoMetric,
  type Shape,
  STEPS_PER_DAY,
  STEPS_PER_HOUR,
  STEPS_PER_WEEK,
} from './demo-plan.ts';
import { noiseAt, seedOf, wanderAt } from './hash-noise.ts';

/** A metric of the demo: a function of its step alone. */
export interface DemoSeries extends Shape {
  readonly id: string;
  /** The group that it is scored in; null if it is scored alone. */
  readonly group: string | null;
  /** The kind of its incidents; null if it has none. */
  readonly incident: DemoIncidentKind | null;
  /** Step of its first incident, modulo INCIDENT_PERIOD. */
  readonly phase: number;
  /** Step of the day at which it is highest. */
  readonly peak: number;
}

/** All series of the demo. Every 32 steps or so an incident begins: in one series, a database or the group. */
export const DEMO_SERIES: readonly DemoSeries[] = planSeries();

function planSeries(): DemoSeries[] {
  const { metrics, group, failAsOne } = DEMO_PLAN;
  const alone = interleaved(metrics);
  const slots = alone.filter(({ metric }) => metric.incident !== null).length + 1;
  let slot = 0;
  const phaseOf = (incident: DemoIncidentKind | null) =>
    incident === null ? 0 : Math.round((slot++ * INCIDENT_PERIOD) / slots);
  const failsAt = new Map<string, number>();
  const series = alone.map(({ metric, owner }) => {
    const own = phaseOf(metric.incident);
    if (metric.incident === null || !failAsOne.includes(owner)) return plan(metric, { owner, group: null, phase: own });
    const phase = failsAt.get(owner) ?? own;
    failsAt.set(owner, phase);
    return plan(metric, { owner, group: null, phase });
  });
  const phase = phaseOf('level-shift');
  const { name: owner } = group;
  return [...series, ...group.metrics.map((metric) => plan(metric, { owner, group: owner, phase }))];
}

/**
 * The first series of every metric, then the second of every metric, and so on. So consecutive incidents differ in
 * kind.
 */
function interleaved(metrics: typeof DEMO_PLAN.metrics): { metric: DemoMetric; owner: string }[] {
  const most = Math.max(...metrics.map((metric) => metric.of.length));
  return Array.from({ length: most }, (_, i) =>
    metrics.flatMap((metric) => (metric.of[i] === undefined ? [] : [{ metric, owner: metric.of[i] }])),
  ).flat();
}

function plan(
  { name, incident, shape }: DemoMetric,
  { owner, group, phase }: { readonly owner: string; readonly group: string | null; readonly phase: number },
): DemoSeries {
  const id = `${owner}/${name}`;
  // Series of the same metric differ a little.
  const scale = 0.7 + 0.6 * (seedOf(id) / 2 ** 32);
  const { base, daily, weekly, cycle, noise, decimals } = shape;
  return {
    id,
    group,
    incident,
    phase,
    peak: peakOf(incident, phase, id),
    decimals,
    base: base * scale,
    daily: daily * scale,
    weekly: weekly * scale,
    cycle: cycle * scale,
    noise: noise * scale,
  };
}

/**
 * The hour of the peak: in the afternoon. Where an incident removes the season, the peak is near the incident, so that
 * it is visible.
 */
function peakOf(incident: DemoIncidentKind | null, phase: number, id: string): number {
  if (incident === 'dropped-season') return (phase + 2 * STEPS_PER_HOUR) % STEPS_PER_DAY;
  if (incident === 'stuck') return phase % STEPS_PER_DAY;
  return 12 * STEPS_PER_HOUR + (seedOf(`${id} peak`) % (6 * STEPS_PER_HOUR));
}

/** The value of a series at a step, in units of the metric, rounded to its decimals, never below 0. */
export function demoValue(series: DemoSeries, step: number): number {
  const incident = incidentOf(series, step);
  const parts = partsAt(series, step);
  const value =
    incident === null
      ? parts.base + parts.season + parts.noise
      : disturbed(incident, step, { unit: unitOf(series), partsAt: (at) => partsAt(series, at) });
  return Math.max(0, Number(value.toFixed(series.decimals)));
}

export function incidentOf(series: DemoSeries, step: number): DemoIncident | null {
  return series.incident === null ? null : incidentAt(series.incident, series.phase, step);
}

/** A distance that exceeds the noise. It is smaller for members of a group. */
function unitOf({ noise, group }: DemoSeries): number {
  return (group === null ? 6 : 2.5) * noise;
}

/** The parts of the series without incidents. */
export function partsAt({ id, base, daily, weekly, cycle, peak, noise }: DemoSeries, step: number): Parts {
  const seed = seedOf(id);
  const day = (2 * Math.PI * (step - peak)) / STEPS_PER_DAY;
  // The epoch was a Thursday: noon of a Wednesday lies half a day before a whole week.
  const week = (2 * Math.PI * (step + STEPS_PER_DAY / 2)) / STEPS_PER_WEEK;
  const season =
    daily * (Math.cos(day) + 0.2 * Math.cos(2 * day)) + weekly * Math.cos(week) + cycle * Math.cos(8 * day);
  const wandering = noise * (noiseAt(seed, step) + 0.5 * wanderAt(seed, step, 3 * STEPS_PER_HOUR));
  return { base, season, noise: wandering };
}
