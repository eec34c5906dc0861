import type { DetectorConfig } from '../../config/config.ts';
import { toldMoves } from '../../incidents/incident-member.ts';
import { IncidentState, UPDATE_MS } from '../../incidents/incident-state.ts';
import { summaryRankedBy } from '../../incidents/incident-summary.ts';
import { Dependencies } from '../../incidents/membership/dependencies.ts';
import { rankOrigins, type SeriesMove, weightOf } from '../../incidents/origins/rank-origins.ts';
import { moveOf, PAST_ROWS, USUAL_GRADE_QUANTILE } from '../../incidents/origins/series-move.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Dependency } from '../../records/dependency.ts';
import type { Incident, IncidentOrigin } from '../../records/incident.ts';
import { isSilence, type ScoreRecord } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';

/** An incident has passed where no event had alarms for longer than this share of a detection window. */
const BRIEF_SHARE = 0.25;
/** What nothing belongs to is an incident of the file if it goes on, and is so much odder than its series ever was. */
const LONE_WEIGHT = Math.log(3);
const EVER = 1;

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

interface GradedRows {
  readonly timesMs: number[];
  readonly grades: number[];
  readonly alarmsMs: number[];
}

/** The incidents of a backtest: those of the stream, with origins that are ranked by the scores of all series. */
export class BacktestIncidents {
  readonly #dependencies: Dependencies;
  readonly #state: IncidentState;
  readonly #briefMs: ReadonlyMap<string, number>;
  readonly #rows = new Map<string, GradedRows>();
  readonly #newest = new Map<string, AnomalyEvent>();
  readonly #revisions: Incident[] = [];
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(detectors: readonly Pick<DetectorConfig, 'name' | 'settings'>[], dependsOn: readonly Dependency[] = []) {
    this.#dependencies = new Dependencies(dependsOn);
    const steps = new Map(detectors.map(({ name, settings }) => [name, meanStepMs(settings.freq)]));
    const stepMs = Math.min(...steps.values());
    this.#state = new IncidentState({
      stepMs,
      stepOf: (detector) => steps.get(detector) ?? stepMs,
      dependencies: this.#dependencies,
    });
    this.#briefMs = new Map(
      detectors.map(({ name, settings: { freq, detectionSize } }) => {
        return [name, Math.ceil(BRIEF_SHARE * detectionSize) * meanStepMs(freq)];
      }),
    );
  }

  addScores(scores: readonly ScoreRecord[]): void {
    for (const score of scores) {
      if (isSilence(score)) continue;
      if (score.grade === null) continue;
      let rows = this.#rows.get(score.series);
      if (rows === undefined) {
        rows = { timesMs: [], grades: [], alarmsMs: [] };
        this.#rows.set(score.series, rows);
      }
      rows.timesMs.push(score.timestampMs);
      rows.grades.push(score.grade);
      if (score.alarm) rows.alarmsMs.push(score.timestampMs);
    }
  }

  /** The clock is event time. */
  addEvent(event: AnomalyEvent): void {
    this.#nowMs = Math.max(this.#nowMs, event.updatedAtMs);
    this.#state.advance(this.#nowMs);
    this.#state.observe(event, this.#nowMs);
    this.#newest.set(event.eventId, event);
    this.#revisions.push(...this.#state.takeRevisions());
    // Nothing is restored here.
    this.#state.takeChanges();
  }

  /**
   * Every revision of what is worth reading: not what passed within a few rows, and not an event that nothing belongs
   * to, unless it goes on, is far odder than its series ever was, and odder than what was going on as it began. Call it
   * after the last event.
   */
  lines(): readonly IncidentLine[] {
    this.#state.advance(this.#nowMs);
    this.#state.advance(this.#nowMs + UPDATE_MS);
    this.#revisions.push(...this.#state.takeRevisions());
    const newest = new Map(this.#revisions.map((incident) => [incident.incidentId, incident]));
    const events = this.#eventsOf(newest);
    const moves = this.#toldMoves(newest, events);
    const named = new Map<string, string[]>();
    return this.#revisions.flatMap((incident) => {
      const told = moves.get(incident.incidentId);
      if (told === undefined) return [];
      const { incidentId: id } = incident;
      const isLast = newest.get(id) === incident;
      const soFar = [...(named.get(id) ?? []), ...incident.events.map(({ eventId }) => eventId)];
      named.set(id, soFar);
      const ids = isLast ? (events.get(id) ?? []) : soFar;
      return [this.#line(incident, ids, isLast ? rankOrigins(told, this.#dependencies) : incident.origins)];
    });
  }

  #line(incident: Incident, events: readonly string[], origins: readonly IncidentOrigin[]): IncidentLine {
    const { incidentId: id, startedAtMs, endedAtMs, kind } = incident;
    const series = events.map((eventId) => this.#newest.get(eventId)!).map((event) => event.series ?? event.group);
    return {
      id,
      startedAt: new Date(startedAtMs).toISOString(),
      endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
      kind,
      summary: summaryRankedBy(incident, origins),
      events,
      series: [...new Set(series.filter((each) => each !== null))],
      origins,
    };
  }

  /** All events of each incident, those of the ones that were merged into it among them. */
  #eventsOf(newest: ReadonlyMap<string, Incident>): ReadonlyMap<string, readonly string[]> {
    const events = new Map<string, string[]>();
    for (const { incidentId, events: named } of this.#revisions) {
      let home = newest.get(incidentId)!;
      while (home.mergedInto !== null) home = newest.get(home.mergedInto)!;
      const own = events.get(home.incidentId);
      const ids = named.map(({ eventId }) => eventId);
      if (own === undefined) events.set(home.incidentId, ids);
      else own.push(...ids);
    }
    return events;
  }

  #toldMoves(
    newest: ReadonlyMap<string, Incident>,
    events: ReadonlyMap<string, readonly string[]>,
  ): ReadonlyMap<string, readonly SeriesMove[]> {
    const weighed = [...newest].flatMap(([id, incident]) => {
      const ids = events.get(id) ?? [];
      return incident.type === 'merged' ? [] : [{ id, incident, ids, weight: this.#largestWeight(incident, ids) }];
    });
    weighed.sort((a, b) => a.incident.startedAtMs - b.incident.startedAtMs || b.weight - a.weight);
    const told: typeof weighed = [];
    for (const each of weighed) if (this.#isTold(each.incident, each, told)) told.push(each);
    return new Map(told.map(({ id, incident, ids }) => [id, this.#movesIn(incident, ids, USUAL_GRADE_QUANTILE)]));
  }

  /** The largest weight of its own series, by all of their past. */
  #largestWeight(incident: Incident, ids: readonly string[]): number {
    const own = new Set(ids.map((eventId) => this.#newest.get(eventId)!.series));
    const moves = this.#movesIn(incident, ids, EVER).filter(({ series }) => own.has(series));
    return Math.max(0, ...moves.map((move) => (move.isFlat || move.usual === null ? 0 : weightOf(move))));
  }

  #isTold(
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

  /** How each series moved from the first alarm to the last one, or to the last row. */
  #movesIn({ endedAtMs }: Incident, ids: readonly string[], usualQuantile: number): readonly SeriesMove[] {
    const events = ids.map((eventId) => this.#newest.get(eventId)!);
    const told = toldMoves(events);
    const fromMs = Math.min(...events.map(({ firstAlarmAtMs }) => firstAlarmAtMs));
    const toMs = endedAtMs === null ? Number.POSITIVE_INFINITY : Math.max(...events.map((one) => one.lastAlarmAtMs));
    return [...this.#rows].map(([series, { timesMs, grades, alarmsMs }]) => {
      const start = timesMs.findLastIndex((timeMs) => timeMs < fromMs) + 1;
      let grade = 0;
      for (let i = start; i < timesMs.length && timesMs[i] <= toMs; i++) grade = Math.max(grade, grades[i]);
      const past = grades.slice(Math.max(0, start - PAST_ROWS), start).sort((a, b) => a - b);
      const usualGrade = past[Math.min(Math.floor(usualQuantile * past.length), past.length - 1)] ?? null;
      const alarmAtMs = alarmsMs.find((timeMs) => timeMs >= fromMs) ?? null;
      return moveOf({ series, grade, usualGrade, alarmAtMs }, told.get(series) ?? null);
    });
  }
}
