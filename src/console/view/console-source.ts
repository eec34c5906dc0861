import type { ChangesQuery, ShownChange } from '../../api/wire/schema/operations/change-schema.ts';
import type { EventAnswer, EventsAnswer, EventsQuery } from '../../api/wire/schema/operations/event-schema.ts';
import type { Freshness } from '../../api/wire/schema/operations/freshness-schema.ts';
import type {
  LiveMessages,
  SeriesPageAnswer,
  SeriesQuery,
  SeriesScoresAnswer,
} from '../../api/wire/schema/operations/history-schema.ts';
import type {
  IncidentDetailAnswer,
  IncidentsAnswer,
  IncidentsQuery,
} from '../../api/wire/schema/operations/incident-schema.ts';
import type { SentAnswer, SentQuery } from '../../api/wire/schema/operations/sent-schema.ts';
import type { QueryOf } from '../../api/wire/schema/query-fields.ts';
import type { ShownScores, ShownSeries } from './scores/shown-scores.ts';
export type SeriesListQuery = QueryOf<typeof SeriesQuery>;

/** Matchers of labels begin with a brace, globs have a star or a question mark. */
const isWhole = (text: string) => /^\s*\{|[*?]/.test(text);

/** Series that a typed text selects: matchers, a glob, or every id with it; empty: all. */
export function chosenMatch(text: string): string {
  return text === '' || isWhole(text) ? text : `*${text}*`;
}

/** The same for a list that searches parts of ids regardless of their case. */
export function searchedSeries(text: string): Pick<SeriesListQuery, 'match' | 'search'> {
  return isWhole(text) ? { match: text } : { search: text };
}

interface ScoresQueryRange {
  readonly from?: number;
  readonly to?: number;
  readonly points: number;
}

export type ShownPast = ShownScores & Pick<SeriesScoresAnswer, 'detector' | 'group'>;

export type ListedSeries = Omit<SeriesPageAnswer, 'series'> & { readonly series: readonly ShownSeries[] };

export interface LiveHandlers {
  onEvent?(event: LiveMessages['event']): void;
  onIncident?(incident: LiveMessages['incident']): void;
  onWorst?(series: LiveMessages['score']['series']): void;
  onScores?(scores: LiveMessages['series']['scores']): void;
  /** False while the connection is lost. */
  onConnected?(connected: boolean): void;
}

interface DetectorWords {
  readonly units: Readonly<Record<string, string>>;
  /** Clocks that series follow, each once. */
  readonly zones: readonly string[];
}

/**
 * Where the pages get what they show: the service, or the data inside a saved report. Rejects with a SourceFailure.
 */
export interface ConsoleSource {
  readonly kind: 'service' | 'report';
  /** The moment that counts as now: the clock, or the end of what a report holds. */
  nowMs(): number;
  /** Freshness of the scores; null in a report, and if the service has no stream. */
  freshness(): Promise<Freshness | null>;
  detectorWords(): Promise<DetectorWords>;
  events(query: QueryOf<typeof EventsQuery>): Promise<EventsAnswer>;
  event(id: string): Promise<EventAnswer | null>;
  seriesList(query: SeriesListQuery): Promise<ListedSeries>;
  scores(series: string, range: ScoresQueryRange): Promise<ShownPast>;
  /** Events that `match` chooses, empty: all; and all scores of a series. Returns how to stop. */
  watch(selection: { readonly series: string | null; readonly match: string }, handlers: LiveHandlers): () => void;
  incidents(query: QueryOf<typeof IncidentsQuery>): Promise<IncidentsAnswer>;
  incident(id: string): Promise<IncidentDetailAnswer>;
  changes(query: QueryOf<typeof ChangesQuery>): Promise<readonly ShownChange[]>;
  /** Messages to receivers of alerts, newest first. */
  sent(query: QueryOf<typeof SentQuery>): Promise<SentAnswer>;
}

/** Why there is nothing to show, in words for a person. */
export class SourceFailure extends Error {
  /** HTTP status; 0 where the service could not be reached. */
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.name = 'SourceFailure';
    this.status = status;
  }
}
