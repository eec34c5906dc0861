/** Why a record could not become a score. The list is closed: alerts and dashboards rely on it. */
export const DEAD_LETTER_REASONS = [
  /** The bytes are not a record of the configured format (a tombstone is none either). */
  'record-unreadable',
  /** The registry does not know the schema the record names. */
  'schema-unknown',
  /** No series id in the record: absent, null or empty. */
  'series-missing',
  /** A series id that is no string or number, too long, or not text. */
  'series-unreadable',
  'time-missing',
  'time-unreadable',
  /** The time is no time of our age, most likely because of a wrong unit. */
  'time-implausible',
  /** Further ahead of the clock than `futureMsMax`. */
  'time-in-future',
  /** Absent or null. */
  'value-missing',
  'value-not-a-number',
  'value-not-finite',
  /** The record's key cannot be the key of its score: too long, or one that disturbs readers of Kafka. */
  'key-unusable',
  /** No detector's globs match the series. */
  'series-unknown',
  /** Older than the newest observation of its series. */
  'late',
  /** The detector judges groups and the record names none. */
  'group-missing',
  /** A member of a group arrived on another partition than the group. */
  'group-split',
  /** The group has as many members as a group may have. */
  'group-full',
] as const;

export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** A record that needs a human: its bytes, its place and the reason. */
export interface DeadLetter {
  readonly reason: DeadLetterReason;
  /** One sentence for the human. */
  readonly detail: string;
  readonly input: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    /** The record's own timestamp, milliseconds since the epoch. */
    readonly timestampMs: number;
  };
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** null as long as the record did not give it away. */
  readonly series: string | null;
  readonly detector: string | null;
  /** When it was set aside, milliseconds since the epoch. */
  readonly atMs: number;
}
