import type { Migration } from './migration.ts';

/**
 * Version 7: the role of a key, and whether it is the bootstrap key: generated at the first start, or configured. Keys
 * of earlier versions did what an operator does.
 */
export const keyRoles: Migration = ({ integer }) => [
  `ALTER TABLE api_keys ADD COLUMN role TEXT NOT NULL DEFAULT 'operator'
    CHECK (role IN ('viewer', 'operator', 'admin'))`,
  `ALTER TABLE api_keys ADD COLUMN bootstrap ${integer} NOT NULL DEFAULT 0`,
  `UPDATE api_keys SET bootstrap = 1 WHERE name IN ('first key', 'TIDEWATCH_API_KEY')`,
];
