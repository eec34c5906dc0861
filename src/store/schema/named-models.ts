import type { Migration } from './migration.ts';

/** Version 4: the name that the client used for the base model; null: its own name. */
export const namedModels: Migration = () => ['ALTER TABLE finetuned_models ADD COLUMN named TEXT'];
