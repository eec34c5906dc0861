import type { Migration } from './migration.ts';

/** Version 2: progress of fine-tuning; null when none runs. */
export const jobProgress: Migration = ({ integer }) => [
  `ALTER TABLE jobs ADD COLUMN step ${integer}`,
  `ALTER TABLE jobs ADD COLUMN steps ${integer}`,
];
