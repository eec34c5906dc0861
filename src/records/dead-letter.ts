/** Why a record could not be scored. The list is closed: alerts and dashboards rely on it. */
export const DEAD_LETTER_REASONS = [
  /** The bytes are not a record of the configured format. */
  'record-unreadable',
  /** The registry does not know the schema that the record names. */
  'schema-unknown',
  /** No series id in the record: absent, null or empty. */
  'series-missing',
  /** The series id is not a string or number, too long, or not valid text. */
  'series-unreadable',
  'time-missing',
  'time-unreadable',
  /** The time lies before 1980 or after 2199. Its unit is probably wrong. */
  'time-implausible',
  /** Further ahead of the clock than `future_limit`. */
  'time-in-future',
  /** Far ahead of its series, and no other record agreed with it. */
  'time-unconfirmed',
  /** Absent or null. */
  'value-missing',
  'value-not-a-number',
  'value-not-finite',
  /** The record's key cannot be the key of its score: it is too long, or it disturbs Kafka consumers. */
  'key-unusable',
  /** No detector's globs match the series. */
  'series-unknown',
  /** Older than the newest observation of its series. */
  'late',
  /** Another series, with other labels, has the id that the template makes of its labels. */
  'series-collides',
  /** The detector scores groups and the record names none. */
  'group-missing',
  /** A member of a group arrived on another partition than the group. */
  'group-split',
  /** The group has as many members as a group may have. */
  'group-full',
  /** The open time steps of its series, or group, have as many points as they may have. */
  'step-full',
  /** Retention deleted records before they were read. */
  'records-expired',
  /** The broker lost records after they were read. New records get their offsets. */
  'records-truncated',
  /** Someone moved the group's offset past records that were not read. */
  'records-skipped',
  /** The input topic was deleted and created again. Records of the old one may not have been read. */
  'topic-recreated',
  /** Some points of the record cannot be used. The others are scored. */
  'points-refused',
  /** Scoring it failed with an unexpected error, also when it was tried alone. */
  'record-failed',
] as const;

export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** A record that could not be scored: its bytes, its place in the input, and the reason. */
export interface DeadLetter {
  readonly reason: DeadLetterReason;
  /** One sentence for the operator. */
  readonly detail: string;
  readonly input: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    /** The last offset, if the letter covers a range of offsets. */
    readonly lastOffset?: number;
    /** The record's own timestamp, milliseconds since the epoch; -1 if the letter covers a range of offsets. */
    readonly timestampMs: number;
  };
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** null if the record has none. */
  readonly series: string | null;
  readonly detector: string | null;
  /** Time at which the record was refused, milliseconds since the epoch. */
  readonly atMs: number;
}

/** A dead letter as written to its topic, JSON. */
export interface DeadLetterRecord extends Omit<DeadLetter, 'key' | 'value'> {
  /** Base64. */
  readonly key: string | null;
  readonly value: string | null;
  /** Key or value was cut at its end. */
  readonly truncated: boolean;
}
