import type { Migration } from './migration.ts';

/** Detectors files that were saved over HTTP, each in whole. */
export const savedDetectors: Migration = ({ integer, strict }) => [
  `CREATE TABLE detector_versions (
    version ${integer} PRIMARY KEY,
    saved_at ${integer} NOT NULL,
    saved_by TEXT NOT NULL,
    comment TEXT,
    text TEXT NOT NULL
  ) ${strict}`,
];
