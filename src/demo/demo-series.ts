import {
  type DemoIncident,
  type DemoIncidentKind,
  disturbed,
  INCIDENT_PERIOD,
  incidentAt,
  type Parts,
} from './demo-incidents.ts';
import { STEPS_PER_DAY, STEPS_PER_HOUR, STEPS_PER_WEEK } from './demo-time.ts';
import { noiseAt, seedOf, wanderAt } from './hash-noise.ts';

interface Shape {
  /** Mean of the series. */
  readonly base: number;
  /** Amplitude of the day and of the week, in units of the metric. */
  readonly daily: number;
  readonly weekly: number;
  /** Amplitude of a cycle of three hours, such as that of a cooling system; 0 where there is none. */
  readonly cycle: number;
  /** Deviation of the noise from step to step, in units of the metric. */
  readonly noise: number;
  /** Decimals of its values. */
  readonly decimals: number;
}

/** A metric of the demo: a function of its step alone. */
export interface DemoSeries extends Shape {
  readonly id: string;
  /** The group that it is scored in; null where it is scored alone. */
  readonly group: string | null;
  /** The kind of its incidents; null where it has none. */
  readonly incident: DemoIncidentKind | null;
  /** Step of its first incident, modulo INCIDENT_PERIOD. */
  readonly phase: number;
  /** Step of the day at which it is highest. */
  readonly peak: number;
}

interface Metric {
  readonly name: string;
  readonly of: readonly string[];
  readonly incident: DemoIncidentKind | null;
  readonly shape: Shape;
}

/** Every kind of metric has one kind of incident, so that the name of a flagged series hints at what to look for. */
const METRICS: readonly Metric[] = [
  {
    name: 'request-rate',
    of: ['web-1', 'web-2', 'web-3', 'api-1', 'api-2'],
    incident: 'spike',
    shape: { base: 420, daily: 160, weekly: 40, cycle: 0, noise: 9, decimals: 1 },
  },
  {
    name: 'latency-p95',
    of: ['web-1', 'web-2', 'api-1', 'db-1', 'db-2', 'cache-1'],
    incident: 'level-shift',
    shape: { base: 85, daily: 18, weekly: 5, cycle: 0, noise: 2.2, decimals: 1 },
  },
  {
    name: 'memory-used',
    of: ['host-1', 'host-2', 'host-3', 'host-4', 'db-1', 'db-2'],
    incident: 'drift',
    shape: { base: 46, daily: 5, weekly: 1, cycle: 0, noise: 0.5, decimals: 2 },
  },
  {
    name: 'temperature',
    of: ['rack-1', 'rack-2', 'rack-3', 'rack-4', 'rack-5', 'rack-6'],
    incident: 'stuck',
    shape: { base: 24, daily: 2, weekly: 0.5, cycle: 2.5, noise: 0.2, decimals: 2 },
  },
  {
    name: 'orders',
    of: ['shop-eu', 'shop-us', 'shop-asia'],
    incident: 'dropped-season',
    shape: { base: 260, daily: 140, weekly: 25, cycle: 0, noise: 6, decimals: 1 },
  },
  {
    name: 'depth',
    of: ['queue-orders', 'queue-mail', 'queue-invoices'],
    incident: 'dropped-season',
    shape: { base: 70, daily: 32, weekly: 5, cycle: 0, noise: 1.5, decimals: 1 },
  },
  {
    name: 'cpu',
    of: ['host-1', 'host-2', 'host-3', 'host-4', 'db-1', 'db-2'],
    incident: 'burst',
    shape: { base: 48, daily: 17, weekly: 4, cycle: 0, noise: 1.1, decimals: 2 },
  },
  {
    name: 'connections',
    of: ['db-1', 'db-2'],
    incident: null,
    shape: { base: 130, daily: 45, weekly: 12, cycle: 0, noise: 3, decimals: 1 },
  },
];

/**
 * Three metrics of one service that are scored together. Their incidents are small in each metric and large in all of
 * them.
 */
const CHECKOUT: readonly Metric[] = [
  {
    name: 'payments',
    of: ['checkout'],
    incident: 'level-shift',
    shape: { base: 95, daily: 34, weekly: 8, cycle: 0, noise: 2.4, decimals: 1 },
  },
  {
    name: 'latency',
    of: ['checkout'],
    incident: 'level-shift',
    shape: { base: 210, daily: 30, weekly: 9, cycle: 0, noise: 5, decimals: 1 },
  },
  {
    name: 'errors',
    of: ['checkout'],
    incident: 'level-shift',
    shape: { base: 14, daily: 4, weekly: 1, cycle: 0, noise: 0.4, decimals: 2 },
  },
];

/** What fails as a whole: the incidents of its series begin together, with that of the first one. */
const FAILS_AS_ONE: ReadonlySet<string> = new Set(['db-1', 'db-2']);

/** All series of the demo. Every 32 steps or so an incident begins: in one series, a database or the group. */
export const DEMO_SERIES: readonly DemoSeries[] = planSeries();

function planSeries(): DemoSeries[] {
  const alone = interleaved(METRICS);
  const slots = alone.filter(({ metric }) => metric.incident !== null).length + 1;
  let slot = 0;
  const phaseOf = (incident: DemoIncidentKind | null) =>
    incident === null ? 0 : Math.round((slot++ * INCIDENT_PERIOD) / slots);
  const failsAt = new Map<string, number>();
  const series = alone.map(({ metric, owner }) => {
    const own = phaseOf(metric.incident);
    if (metric.incident === null || !FAILS_AS_ONE.has(owner)) return plan(metric, { owner, group: null, phase: own });
    const phase = failsAt.get(owner) ?? own;
    failsAt.set(owner, phase);
    return plan(metric, { owner, group: null, phase });
  });
  const phase = phaseOf('level-shift');
  return [...series, ...CHECKOUT.map((metric) => plan(metric, { owner: 'checkout', group: 'checkout', phase }))];
}

/**
 * The first series of every metric, then the second of every metric, and so on. So consecutive incidents differ in
 * kind.
 */
function interleaved(metrics: readonly Metric[]): { metric: Metric; owner: string }[] {
  const most = Math.max(...metrics.map((metric) => metric.of.length));
  return Array.from({ length: most }, (_, i) =>
    metrics.flatMap((metric) => (metric.of[i] === undefined ? [] : [{ metric, owner: metric.of[i] }])),
  ).flat();
}

interface Placement {
  readonly owner: string;
  readonly group: string | null;
  readonly phase: number;
}

function plan({ name, incident, shape }: Metric, { owner, group, phase }: Placement): DemoSeries {
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

/** The incident of a series at a step; null when there is none. */
export function incidentOf(series: DemoSeries, step: number): DemoIncident | null {
  return series.incident === null ? null : incidentAt(series.incident, series.phase, step);
}

/** A distance that stands out of the noise. It is smaller for members of a group. */
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
