import type { DetectorConfig } from '../../config/config.ts';
import { memberOf } from '../../incidents/incident-member.ts';
import { originMove } from '../../incidents/incident-revision.ts';
import { IncidentState, UPDATE_MS } from '../../incidents/incident-state.ts';
import { Dependencies } from '../../incidents/membership/dependencies.ts';
import { weightOf } from '../../incidents/origins/rank-origins.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Dependency } from '../../records/dependency.ts';
import type { Incident, IncidentOrigin } from '../../records/incident.ts';
import { meanStepMs } from '../../time/frequency.ts';

/** An incident has passed where no event had alarms for longer than this share of a detection window. */
const BRIEF_SHARE = 0.25;
/** An event without related events is an incident of the file if it is open and so far beyond its threshold. */
const LONE_WEIGHT = Math.log(2);

/** A line of the file of incidents: one revision. The last line of an id counts. */
export interface IncidentLine {
  readonly id: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly kind: Incident['kind'];
  readonly summary: string;
  readonly events: readonly string[];
  readonly series: readonly string[];
  readonly origins: readonly IncidentOrigin[];
}

/** The incidents of a backtest: those of the stream, without those that are not worth reading. */
export class BacktestIncidents {
  readonly #state: IncidentState;
  readonly #briefMs: ReadonlyMap<string, number>;
  readonly #newest = new Map<string, AnomalyEvent>();
  readonly #revisions: Incident[] = [];
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(detectors: readonly Pick<DetectorConfig, 'name' | 'settings'>[], dependsOn: readonly Dependency[] = []) {
    const steps = new Map(detectors.map(({ name, settings }) => [name, meanStepMs(settings.freq)]));
    const stepMs = Math.min(...steps.values());
    this.#state = new IncidentState({
      stepMs,
      stepOf: (detector) => steps.get(detector) ?? stepMs,
      dependencies: new Dependencies(dependsOn),
    });
    this.#briefMs = new Map(
      detectors.map(({ name, settings: { freq, detectionSize } }) => {
        return [name, Math.ceil(BRIEF_SHARE * detectionSize) * meanStepMs(freq)];
      }),
    );
  }

  /** The clock is event time. */
  addEvent(event: AnomalyEvent): void {
    this.#nowMs = Math.max(this.#nowMs, event.updatedAtMs);
    this.#state.advance(this.#nowMs);
    this.#state.ingest(event, this.#nowMs);
    this.#newest.set(event.eventId, event);
    this.#revisions.push(...this.#state.drainRevisions());
    // Nothing is restored here.
    this.#state.drainChanges();
  }

  /**
   * Returns every revision of what is worth reading. What passed within a few rows is omitted, and so is an event
   * without related events, unless it is open, far beyond its threshold, and farther than what was open as it began.
   * Call it after the last event.
   */
  lines(): readonly IncidentLine[] {
    this.#state.advance(this.#nowMs);
    this.#state.advance(this.#nowMs + UPDATE_MS);
    this.#revisions.push(...this.#state.drainRevisions());
    const newest = new Map(this.#revisions.map((incident) => [incident.incidentId, incident]));
    const events = this.#eventsOf(newest);
    const shown = this.#shown(newest, events);
    const named = new Map<string, string[]>();
    return this.#revisions.flatMap((incident) => {
      const { incidentId: id } = incident;
      if (!shown.has(id)) return [];
      const soFar = [...(named.get(id) ?? []), ...incident.events.map(({ eventId }) => eventId)];
      named.set(id, soFar);
      return [this.#line(incident, newest.get(id) === incident ? (events.get(id) ?? []) : soFar)];
    });
  }

  #line({ incidentId: id, startedAtMs, endedAtMs, kind, summary, origins }: Incident, events: readonly string[]) {
    const series = events.map((eventId) => this.#newest.get(eventId)!).map((event) => event.series ?? event.group);
    return {
      id,
      startedAt: new Date(startedAtMs).toISOString(),
      endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
      kind,
      summary,
      events,
      series: [...new Set(series.filter((each) => each !== null))],
      origins,
    };
  }

  /** All events of each incident, those of the ones that were merged into it among them. */
  #eventsOf(newest: ReadonlyMap<string, Incident>): ReadonlyMap<string, readonly string[]> {
    const events = new Map<string, string[]>();
    for (const { incidentId, events: named } of this.#revisions) {
      let survivor = newest.get(incidentId)!;
      while (survivor.mergedInto !== null) survivor = newest.get(survivor.mergedInto)!;
      const own = events.get(survivor.incidentId);
      const ids = named.map(({ eventId }) => eventId);
      if (own === undefined) events.set(survivor.incidentId, ids);
      else own.push(...ids);
    }
    return events;
  }

  #shown(newest: ReadonlyMap<string, Incident>, events: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
    const weighed = [...newest].flatMap(([id, incident]) => {
      const ids = events.get(id) ?? [];
      return incident.type === 'merged' ? [] : [{ id, incident, ids, weight: this.#largestWeight(ids) }];
    });
    weighed.sort((a, b) => a.incident.startedAtMs - b.incident.startedAtMs || b.weight - a.weight);
    const shown: typeof weighed = [];
    for (const each of weighed) if (this.#isShown(each.incident, each, shown)) shown.push(each);
    return new Set(shown.map(({ id }) => id));
  }

  #largestWeight(ids: readonly string[]): number {
    const moves = ids.map((eventId) => originMove(memberOf(this.#newest.get(eventId)!, 0)));
    return Math.max(0, ...moves.map((move) => (move.isFlat || move.threshold === null ? 0 : weightOf(move))));
  }

  #isShown(
    { kind, type, startedAtMs }: Incident,
    { ids, weight }: { readonly ids: readonly string[]; readonly weight: number },
    earlier: readonly { readonly incident: Incident; readonly weight: number }[],
  ): boolean {
    if (kind === 'pause') return true;
    const events = ids.map((eventId) => this.#newest.get(eventId)!);
    const briefest = ({ detector, firstAlarmAtMs, lastAlarmAtMs }: AnomalyEvent) =>
      lastAlarmAtMs - firstAlarmAtMs < (this.#briefMs.get(detector) ?? 0);
    if (type === 'closed' && events.every(briefest)) return false;
    if (kind !== 'single') return true;
    const goingOn = earlier.filter(({ incident: { endedAtMs } }) => endedAtMs === null || endedAtMs >= startedAtMs);
    return type !== 'closed' && weight >= LONE_WEIGHT && goingOn.every((other) => other.weight < weight);
  }
}
