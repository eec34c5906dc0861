import type { ArrivedScore, PageOf, SeenEvent, SeenSeries, ShownScores } from './seen.ts';

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
export interface ShownPast {
  readonly detector: string;
  readonly group: string | null;
  readonly columns: ShownScores;
}

export interface LiveHandlers {
  onEvent(event: SeenEvent): void;
  /** The newest scores of the worst series. */
  onWorst(series: readonly SeenSeries[]): void;
  /** Scores of the series that is watched. */
  onScores(scores: readonly ArrivedScore[]): void;
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
  events(query: EventQuery): Promise<PageOf<SeenEvent> & { readonly open: number }>;
  event(id: string): Promise<SeenEvent | null>;
  seriesList(query: SeriesListQuery): Promise<PageOf<SeenSeries> & { readonly total: number }>;
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
