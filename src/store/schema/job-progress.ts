import type { Migration } from './migration.ts';

/** Version 2: how far the fine-tuning of a job has come; null where none runs. */
export const jobProgress: Migration = ({ integer }) => [
  `ALTER TABLE jobs ADD COLUMN step ${integer}`,
  `ALTER TABLE jobs ADD COLUMN steps ${integer}`,
];
