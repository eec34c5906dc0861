import type { EventAnswer, EventsAnswer } from '../../sidecar/wire/schema/event-schema.ts';
import type { LiveMessages, SeriesPageAnswer, SeriesScoresAnswer } from '../../sidecar/wire/schema/history-schema.ts';
import type { ShownScores, ShownSeries } from './shown-scores.ts';

export interface EventQuery {
  readonly open?: boolean;
  readonly series?: string;
  readonly group?: string;
  readonly detector?: string;
  readonly kind?: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface SeriesListQuery {
  readonly detector?: string;
  readonly group?: string;
  readonly search?: string;
  readonly sort?: 'grade' | 'name';
  readonly recent?: number;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ScoresQueryRange {
  readonly from?: number;
  readonly to?: number;
  readonly points: number;
}

/** Scores of a series, and how it is scored. */
export type ShownPast = ShownScores & Pick<SeriesScoresAnswer, 'detector' | 'group'>;

export type ListedSeries = Omit<SeriesPageAnswer, 'series'> & { readonly series: readonly ShownSeries[] };

export interface LiveHandlers {
  onEvent(event: LiveMessages['event']): void;
  /** The newest scores of the worst series. */
  onWorst(series: LiveMessages['score']['series']): void;
  /** Scores of the series that is watched. */
  onScores(scores: LiveMessages['series']['scores']): void;
  /** False while the connection is lost. */
  onConnected(connected: boolean): void;
}

/**
 * Where the pages get what they show: the service, or the data inside a saved report. Rejects with a SourceFailure.
 */
export interface ConsoleSource {
  readonly kind: 'service' | 'report';
  /** The moment that counts as now: the clock, or the end of what a report holds. */
  nowMs(): number;
  events(query: EventQuery): Promise<EventsAnswer>;
  event(id: string): Promise<EventAnswer | null>;
  seriesList(query: SeriesListQuery): Promise<ListedSeries>;
  scores(series: string, range: ScoresQueryRange): Promise<ShownPast>;
  /** Returns how to stop. */
  watch(series: string | null, handlers: LiveHandlers): () => void;
  acknowledge(id: string, acknowledged: boolean): Promise<void>;
  mute(id: string, until: number | null, reason: string): Promise<void>;
  label(id: string, real: boolean | null): Promise<void>;
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
