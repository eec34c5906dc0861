/** Events of a fleet without faults, at the default target rate, and of faults among them. */
import { IncidentState, QUIET_MS } from '../../../src/incidents/incident-state.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

const STEP_MS = 300_000;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
/** False alarms of a series in a day: the target is 1 a week, kept with a margin. */
const FALSE_PER_DAY = 0.18;
/** The strengths of false alarms have a tail like that of the labelled series: twice as strong, half as often. */
const STRENGTH_MIN = 17;
const STRENGTH_MAX = 400;

export interface SimulatedEvent {
  readonly series: string;
  readonly atMs: number;
  readonly strength: number;
  /** Name of the fault that it belongs to; null for a false one. */
  readonly fault: string | null;
}

/** `parts/service/metric`: as many series as are asked for, in halves that have nothing in common. */
export function fleetSeries(count: number, halves: readonly string[] = ['shop', 'bank']): readonly string[] {
  const metrics = ['latency', 'errors', 'cpu', 'memory', 'queue'];
  return Array.from({ length: count }, (_, i) => {
    const half = i % halves.length;
    const inHalf = Math.floor(i / halves.length);
    const service = Math.floor(inHalf / metrics.length);
    return `${halves[half]}/${halves[half]}-${service}/${halves[half]}-${metrics[inHalf % metrics.length]}`;
  });
}

/** False events of some days: each series by itself. */
export function falseEvents(series: readonly string[], days: number, random: () => number): SimulatedEvent[] {
  const events: SimulatedEvent[] = [];
  const steps = (days * DAY_MS) / STEP_MS;
  const count = Math.round(series.length * days * FALSE_PER_DAY);
  for (let i = 0; i < count; i++) {
    events.push({
      series: series[Math.floor(random() * series.length)],
      atMs: START + Math.floor(random() * steps) * STEP_MS,
      strength: strength(random),
      fault: null,
    });
  }
  return events;
}

/** Events of a fault, within `spread` steps. */
export function faultEvents(
  name: string,
  series: readonly string[],
  { day, spread }: { readonly day: number; readonly spread: number },
  random: () => number,
): SimulatedEvent[] {
  return series.map((each) => ({
    series: each,
    atMs: START + day * DAY_MS + Math.floor(random() * (spread + 1)) * STEP_MS,
    strength: strength(random),
    fault: name,
  }));
}

function strength(random: () => number): number {
  return Math.min(STRENGTH_MAX, STRENGTH_MIN / Math.max(1e-9, 1 - random()));
}

/** The faults, or nulls, of the events in each incident. */
export function groupedEvents(events: readonly SimulatedEvent[]): readonly (readonly (string | null)[])[] {
  const state = new IncidentState({ stepMs: STEP_MS, stepOf: () => STEP_MS });
  const written: Incident[] = [];
  const faults = new Map<string, string | null>();
  for (const [i, { series, atMs, strength: most, fault }] of events.toSorted((a, b) => a.atMs - b.atMs).entries()) {
    const eventId = i.toString(16).padStart(32, '0');
    faults.set(eventId, fault);
    const grade = most / (most + 14);
    const opened = anomalyEvent({ eventId, series, grade, startedAtMs: atMs, updatedAtMs: atMs, labels: {} });
    state.ingest(opened, atMs);
    state.ingest({ ...opened, type: 'closed', revision: 1, endedAtMs: atMs }, atMs);
    state.advance(atMs);
    written.push(...state.drainRevisions());
    state.drainChanges();
  }
  state.advance(events.reduce((latest, { atMs }) => Math.max(latest, atMs), 0) + QUIET_MS + 4 * STEP_MS);
  written.push(...state.drainRevisions());
  const merged = new Map(written.map(({ incidentId, mergedInto }) => [incidentId, mergedInto]));
  const homes = new Map<string, (string | null)[]>();
  for (const { incidentId, events: named } of written) {
    let context = incidentId;
    for (let into = merged.get(context); into; into = merged.get(context)) context = into;
    homes.set(context, [...(homes.get(context) ?? []), ...named.map(({ eventId }) => faults.get(eventId)!)]);
  }
  return [...homes.values()];
}

/** Days before what is measured, so that the past of the fleet is known. */
export const DAYS_BEFORE = 4;

/** Share of the false events of clean series that stay alone, and incidents a day. */
export function aloneFigures(seriesCount: number): { readonly alone: number; readonly incidents_per_day: number } {
  const random = seededRandom(1);
  const events = falseEvents(fleetSeries(seriesCount), DAYS_BEFORE, random);
  const incidents = groupedEvents(events);
  return {
    alone: incidents.filter(({ length }) => length === 1).length / events.length,
    incidents_per_day: incidents.length / DAYS_BEFORE,
  };
}

/** Share of the trials in which two faults at once in unrelated halves are two incidents, each in one piece. */
export function pairsSeparated(trials: number): number {
  let separated = 0;
  for (let trial = 0; trial < trials; trial++) {
    const random = seededRandom(100 + trial);
    const series = fleetSeries(400);
    const faults = ['shop', 'bank'].flatMap((half) => {
      const own = series.filter((each) => each.startsWith(half));
      return faultEvents(
        half,
        hitSeries(own, 4 + Math.floor(random() * 20), random),
        { day: DAYS_BEFORE, spread: 1 },
        random,
      );
    });
    const found = groupedEvents([...falseEvents(series, DAYS_BEFORE, random), ...faults]).filter((incident) => {
      return incident.some((fault) => fault !== null);
    });
    const isPure = found.every((incident) => new Set(incident.filter((fault) => fault !== null)).size === 1);
    if (found.length === 2 && isPure) separated++;
  }
  return separated / trials;
}

/** A service with all of its metrics, and one metric of each of others. */
function hitSeries(series: readonly string[], others: number, random: () => number): readonly string[] {
  const services = [...Map.groupBy(series, (each) => each.split('/')[1]).values()];
  const first = Math.floor(random() * services.length);
  const called = services.filter((_, i) => i !== first).slice(0, others);
  return [...services[first], ...called.map((all) => all[0])];
}

/** Incidents that one fault over 200 of 2,000 series becomes. */
export function fleetPieces(): number {
  const random = seededRandom(7);
  const series = fleetSeries(2_000, ['a', 'b', 'c', 'd', 'e']);
  const hit = series.filter((_, i) => i % 10 === 3 * (Math.floor(i / 10) % 3)).slice(0, 200);
  const events = [
    ...falseEvents(series, DAYS_BEFORE, random),
    ...faultEvents('fleet', hit, { day: DAYS_BEFORE, spread: 1 }, random),
  ];
  return groupedEvents(events).filter((incident) => incident.includes('fleet')).length;
}
