import type { EventDirection, EventKind } from '../../records/anomaly-event.ts';
import type { IncidentKind } from '../../records/incident.ts';
import type { TextPattern } from '../../records/series/glob.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import type { LocalTimes } from '../../time/local-times.ts';
import type { ReceiverSettings, ReceiverTarget } from './receiver-schema.ts';

export interface Routes {
  /** Topic that keeps what is open and what is not delivered yet; null: it is named after the consumer group. */
  readonly stateTopic: string | null;
  readonly routes: readonly AlertRoute[];
  readonly receivers: readonly ReceiverSettings[];
  /** Hosts, as written in the settings of receivers, that may have private addresses. */
  readonly allowPrivate: ReadonlySet<string>;
}

/** Selects events or incidents, their receivers, and the time of sending. */
export interface AlertRoute {
  readonly name: string;
  readonly on: 'events' | 'incidents';
  readonly match: EventMatch;
  readonly receivers: readonly string[];
  /** True if later routes are evaluated, too. */
  readonly continues: boolean;
  /**
   * Whether each revision is sent, or only the first and the last. Receivers that replace what they show get those of
   * an incident in any case.
   */
  readonly updates: boolean;
  /** Fields whose values events of one message share; null: each event has messages of its own. */
  readonly groupBy: readonly string[] | null;
  /** Time for which a message waits for further events of its group, or of its incident. */
  readonly groupWaitMs: number;
  /** Time without new messages about a series after an event. */
  readonly coolDownMs: number;
  /** An event whose newest observation is older than this when it arrives is not sent; null: it is sent. */
  readonly ageLimitMs: number | null;
  readonly mute: readonly MuteWindow[];
}

/** Hours in which a route sends nothing new. */
export interface MuteWindow {
  readonly name: string;
  /** Only events about these; null: all. */
  readonly series: SeriesPattern | null;
  readonly times: LocalTimes;
}

/**
 * Every condition must hold; null is none. Of an incident one event must match all that are about events; severity,
 * grade and kind of incident are those of the whole.
 */
export interface EventMatch {
  readonly detector: TextPattern | null;
  /** Patterns of the series, or the group. */
  readonly series: SeriesPattern | null;
  readonly kinds: readonly EventKind[] | null;
  readonly directions: readonly EventDirection[] | null;
  readonly incidentKinds: readonly IncidentKind[] | null;
  readonly severityMin: number | null;
  readonly gradeMin: number | null;
  readonly labels: ReadonlyMap<string, TextPattern>;
}

/** True if a further message replaces what the receiver shows, so that nobody is disturbed. */
export function replacesShown({ kind }: ReceiverTarget): boolean {
  return kind === 'pagerduty' || kind === 'alertmanager';
}

/** True if the receiver drops an alert that is not repeated, and may lose its end. */
export function needsRepetition({ kind }: ReceiverTarget): boolean {
  return kind === 'alertmanager';
}
