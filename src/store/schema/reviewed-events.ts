import type { Migration } from './migration.ts';

/** Reviews of events by people, and the letters that were sent again. An event outlives its history here. */
export const eventReviews: Migration = ({ integer, strict }) => [
  `CREATE TABLE event_reviews (
    event_id TEXT PRIMARY KEY,
    started_at ${integer} NOT NULL,
    record TEXT NOT NULL,
    acknowledged_at ${integer},
    acknowledged_by TEXT,
    acknowledged_note TEXT,
    muted_at ${integer},
    muted_by TEXT,
    muted_until ${integer},
    muted_reason TEXT,
    labelled_at ${integer},
    labelled_by TEXT,
    label ${integer},
    label_note TEXT
  ) ${strict}`,
  'CREATE INDEX event_reviews_by_start ON event_reviews (started_at)',
  `CREATE TABLE redriven_letters (
    partition ${integer} NOT NULL,
    letter_offset ${integer} NOT NULL,
    redriven_at ${integer} NOT NULL,
    redriven_by TEXT NOT NULL,
    PRIMARY KEY (partition, letter_offset)
  ) ${strict}`,
];
