import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';
import type { ScoreRecord, ScoreState } from '../../records/score-record.ts';
import type {
  EventRows,
  EventSelection,
  FoundIncident,
  IncidentRows,
  IncidentSelection,
  IncidentStanding,
  KnownEvent,
  PageKey,
} from './span-port.ts';

/** Times are event times, milliseconds since 1970 (UTC). Numbers that do not exist are null in rows, NaN in columns. */

/** Scores, events, incidents and dead letters come from topics of their own; offsets are kept for each. */
export type HistorySource = 'scores' | 'events' | 'incidents' | 'dead-letters';

export interface HistoryPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Fields of a score that are kept, and shown. */
export const KEPT_FIELDS = [
  'series',
  'detector',
  'group',
  'timestampMs',
  'value',
  'forecast',
  'lo',
  'hi',
  'anomalyScore',
  'grade',
  'severity',
  'alarm',
  'anomaly',
  'state',
] as const satisfies readonly (keyof ScoreRecord)[];

export type KeptFields = Pick<ScoreRecord, (typeof KEPT_FIELDS)[number]>;

export interface KeptScore extends HistoryPlace, KeptFields {}

export interface KeptEvent extends HistoryPlace {
  readonly event: AnomalyEvent;
}

export interface IncidentRevision extends HistoryPlace {
  readonly incident: Incident;
}

export interface KeptDeadLetter extends HistoryPlace {
  readonly reason: string;
  readonly atMs: number;
  /** The record as it is in the topic, JSON. */
  readonly record: string;
}

/** Up to where a partition of a source is stored: the offset of the next record. */
export interface SourcePosition {
  readonly source: HistorySource;
  /** A topic that was deleted and created again has another id, and begins at 0 again; null if it is not known. */
  readonly topicId: string | null;
  readonly partition: number;
  readonly nextOffset: number;
}

/**
 * Records that were read together, in offset order within each partition. `positions` are those after the batch: they
 * also cover offsets that hold no record, such as markers of transactions.
 */
export interface HistoryBatch {
  readonly scores: readonly KeptScore[];
  readonly events: readonly KeptEvent[];
  readonly incidents: readonly IncidentRevision[];
  readonly deadLetters: readonly KeptDeadLetter[];
  readonly positions: readonly SourcePosition[];
}

interface HistoryWriter {
  positions(): Promise<readonly SourcePosition[]>;
  /**
   * Stores rows and positions in one transaction. Rows below the stored position of their partition are there already
   * and are omitted, so that a batch may be repeated. Returns what was stored.
   */
  append(batch: HistoryBatch): Promise<HistoryBatch>;
  /** Drops what is older or more than the bounds allow, and keeps what is read fast. Called every few minutes. */
  maintain(): Promise<void>;
}

export interface SeriesSelection {
  readonly detector: string | null;
  readonly group: string | null;
  /** A glob over ids, or matchers of labels. */
  readonly match: string | null;
  readonly search: string | null;
  /** Only series whose newest observation is an alarm. */
  readonly alarm: boolean;
  readonly sort: 'grade' | 'name';
  readonly recent: number;
  readonly limit: number;
  /** The last row of the page before; null on the first page. */
  readonly after: PageKey | null;
}

export interface SeriesRow extends KeptFields {
  /** The newest values, oldest first; empty unless requested. */
  readonly recent: readonly (number | null)[];
}

export interface SeriesRows {
  /** Those that have ended, though others continue, are last if sorted by grade. */
  readonly series: readonly (SeriesRow & { readonly hasEnded: boolean })[];
  readonly total: number;
  /** The last row; null on the last page. */
  readonly next: PageKey | null;
}

export interface ScoreRange {
  readonly series: string;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly pointsMax: number;
}

/** Columns of equal length. Float64Array: NaN if there is no number. */
export interface ScoreColumns {
  readonly timestamp: Float64Array;
  readonly value: Float64Array;
  readonly valueMin: Float64Array;
  readonly valueMax: Float64Array;
  readonly forecast: Float64Array;
  readonly lo: Float64Array;
  readonly hi: Float64Array;
  readonly anomalyScore: Float64Array;
  readonly grade: Float64Array;
  readonly severity: Float64Array;
  readonly alarms: Float64Array;
  readonly anomalies: Float64Array;
  readonly observations: Float64Array;
}

export interface SeriesScores {
  readonly series: string;
  readonly detector: string;
  readonly group: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** null if the range was not downsampled. */
  readonly bucketMs: number | null;
  readonly columns: ScoreColumns;
}

export interface SeriesStanding {
  /** Series that continue, by the state of their newest score. */
  readonly states: ReadonlyMap<ScoreState, number>;
  readonly ended: number;
  /** The newest event time, and when the newest score was stored; null if there is no series. */
  readonly newestMs: number | null;
  readonly storedAtMs: number | null;
  /** null if no incident was ever made. */
  readonly incidents: IncidentStanding | null;
}

export interface PublishedSelection {
  /** Series in addition to those with open events, by a glob or matchers; null: none. */
  readonly series: string | null;
  /** So many series, and so many open events. */
  readonly limit: number;
}

/** The present: series with open events first, then those that were chosen. */
export interface PublishedScores {
  readonly series: readonly SeriesRow[];
  readonly seriesTotal: number;
  readonly events: readonly AnomalyEvent[];
  readonly eventsTotal: number;
}

export interface GroupSelection {
  readonly detector: string | null;
  /** A glob over ids of groups, or matchers of what their series have in common. */
  readonly match: string | null;
  readonly limit: number;
}

export interface GroupRow {
  readonly group: string;
  readonly detector: string;
  readonly members: number;
  readonly timestampMs: number;
  readonly grade: number | null;
  readonly severity: number | null;
  readonly alarms: number;
}

export interface DetectorRow {
  readonly detector: string;
  readonly series: number;
  readonly groups: number;
  /** Observations that are kept, and since when. */
  readonly observations: number;
  readonly sinceMs: number | null;
  /** Time for which its series, or groups, were judged: added up, in event time, of what is kept. */
  readonly judgedMs: number;
  /** Events of that time, except those of silence. */
  readonly eventsJudged: number;
  readonly eventsOpen: number;
  readonly events: number;
}

export interface DeadLetterSelection {
  readonly reason: string | null;
  readonly limit: number;
  readonly after: PageKey | null;
}

export interface DeadLetterRows {
  /** Newest first. */
  readonly letters: readonly KeptDeadLetter[];
  readonly next: PageKey | null;
}

export interface HistoryState {
  readonly positions: readonly SourcePosition[];
  readonly series: number;
  readonly scores: number;
  readonly events: number;
  readonly bytes: number;
  /** Oldest event time that is kept; null if there is none. */
  readonly oldestMs: number | null;
  readonly deadLetters: readonly { readonly reason: string; readonly letters: number; readonly newestMs: number }[];
}

export interface HistoryReader {
  listSeries(selection: SeriesSelection): Promise<SeriesRows>;
  /** null for a series that is not known. */
  scores(range: ScoreRange): Promise<SeriesScores | null>;
  listEvents(selection: EventSelection): Promise<EventRows>;
  /** The newest revision of an event; null for an unknown one. */
  findEvent(id: string): Promise<KnownEvent | null>;
  listIncidents(selection: IncidentSelection): Promise<IncidentRows>;
  /** The incident of this id, or the one that it is part of now; null for an unknown one. */
  findIncident(id: string): Promise<FoundIncident | null>;
  /** Those that were merged into each of these incidents, `MERGED_MAX` of all at most; none where there are none. */
  mergedInto(incidentIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  listGroups(selection: GroupSelection): Promise<readonly GroupRow[]>;
  published(selection: PublishedSelection): Promise<PublishedScores>;
  detectors(): Promise<readonly DetectorRow[]>;
  listDeadLetters(selection: DeadLetterSelection): Promise<DeadLetterRows>;
  findDeadLetter(place: HistoryPlace): Promise<KeptDeadLetter | null>;
  state(): Promise<HistoryState>;
  standing(): Promise<SeriesStanding>;
}

export interface HistoryStore extends HistoryWriter, HistoryReader {
  /** The id of the Kafka cluster that the history is of: the given one, unless it was that of another one before. */
  claim(cluster: string): Promise<string>;
  close(): Promise<void>;
}

/** Why nothing is added to the history, and since when. */
export interface HistoryProblem {
  readonly reason: string;
  readonly sinceMs: number;
  /** The step that is due if a live input has stopped; null if the topics cannot be read. */
  readonly due: string | null;
}

export interface LiveSecond {
  readonly atMs: number;
  readonly observations: number;
  readonly alarms: number;
  /** The newest score of every series that was observed. */
  readonly newest: readonly KeptScore[];
  /** Every score of the series that are followed. */
  readonly followed: readonly KeptScore[];
  readonly events: readonly AnomalyEvent[];
  readonly incidents: readonly Incident[];
}

export interface HistoryFeed {
  /** @returns ends the subscription */
  subscribe(listener: (second: LiveSecond) => void, followed: string | null): () => void;
}
