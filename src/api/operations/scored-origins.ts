import type { HistoryReader } from '../../history/port/history-port.ts';
import { Dependencies } from '../../incidents/membership/dependencies.ts';
import { PAST_ROWS, USUAL_GRADE_QUANTILE } from '../../incidents/origins/series-move.ts';
import { rankWithScores, type ScoredRanking } from '../../incidents/rank-with-scores.ts';
import type { Incident } from '../../records/incident.ts';
import type { Operations } from './operations.ts';

/** Series that are ranked, those with the largest grades first. */
const SERIES_MAX = 5_000;
/** Readers of one incident within this time share a ranking. */
const SHARED_MS = 15_000;
const SHARED_INCIDENTS_MAX = 100;

/** Events of one page of the history. */
const EVENTS_AT_ONCE = 1_000;

export const EVENTS_OF_INCIDENT = {
  open: null,
  series: null,
  group: null,
  match: null,
  detector: null,
  kind: null,
  fromMs: null,
  toMs: null,
  limit: EVENTS_AT_ONCE,
  after: null,
} as const;

interface Shared {
  readonly atMs: number;
  readonly ranking: Promise<ScoredRanking | null>;
}

/** Ranks origins by the scores that the history has, for any number of readers. */
export class ScoredOrigins {
  readonly #reader: HistoryReader;
  readonly #dependencies: Dependencies;
  readonly #nowMs: () => number;
  readonly #shared = new Map<string, Shared>();

  constructor({ reader, dependsOn }: Pick<Operations, 'reader' | 'dependsOn'>, nowMs: () => number) {
    this.#reader = reader;
    this.#dependencies = new Dependencies(dependsOn);
    this.#nowMs = nowMs;
  }

  /** null where the scores say nothing: of a pause, or where they were forgotten or cannot be read. */
  of(incident: Incident): Promise<ScoredRanking | null> {
    const atMs = this.#nowMs();
    for (const [key, shared] of this.#shared) if (atMs - shared.atMs >= SHARED_MS) this.#shared.delete(key);
    const key = `${incident.incidentId} ${incident.revision}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known.ranking;
    const ranking = this.#rank(incident).catch(() => null);
    if (this.#shared.size < SHARED_INCIDENTS_MAX) this.#shared.set(key, { atMs, ranking });
    return ranking;
  }

  async #rank({ incidentId, kind, startedAtMs, endedAtMs }: Incident): Promise<ScoredRanking | null> {
    if (kind === 'pause') return null;
    const [ranges, own, meanwhile] = await Promise.all([
      this.#reader.listMoved({
        startMs: startedAtMs,
        endMs: endedAtMs,
        pastRows: PAST_ROWS,
        usualQuantile: USUAL_GRADE_QUANTILE,
        limit: SERIES_MAX,
      }),
      this.#reader.listEvents({ ...EVENTS_OF_INCIDENT, incident: incidentId }),
      this.#reader.listEvents({ ...EVENTS_OF_INCIDENT, incident: null, fromMs: startedAtMs, toMs: endedAtMs }),
    ]);
    if (ranges.length === 0 || own.events.length === 0) return null;
    const others = meanwhile.events.filter((event) => event.incidentId !== incidentId);
    return rankWithScores(ranges, { events: own.events, others, dependencies: this.#dependencies });
  }
}
