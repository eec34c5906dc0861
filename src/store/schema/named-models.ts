import type { Migration } from './migration.ts';

/** Version 4: the name by which the model below a fine-tuned one was asked for; null: its own. */
export const namedModels: Migration = () => ['ALTER TABLE finetuned_models ADD COLUMN named TEXT'];
