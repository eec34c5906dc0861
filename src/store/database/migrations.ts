import { ServiceError } from '../../ops/service-error.ts';
import { firstTables } from '../schema/first-tables.ts';
import {
  consoleSessions,
  eventReviews,
  fairJobs,
  idempotentJobs,
  incidentReviews,
  jobProgress,
  keptAnswers,
  keptResults,
  keyRoles,
  namedModels,
  savedDetectors,
  sentAlerts,
  seriesMutes,
  usageByTime,
} from '../schema/later-tables.ts';
import type { ColumnTypes, Migration } from '../schema/migration.ts';
import type { Database, Sql } from './database.ts';

const TYPES: Readonly<Record<Database['dialect'], ColumnTypes>> = {
  sqlite: { integer: 'INTEGER', bytes: 'BLOB', counter: 'INTEGER PRIMARY KEY AUTOINCREMENT', strict: 'STRICT' },
  postgres: {
    integer: 'BIGINT',
    bytes: 'BYTEA',
    counter: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    strict: '',
  },
};

/** The first migration creates version 1, and so on. Released migrations never change; there are no downgrades. */
export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  jobProgress,
  usageByTime,
  namedModels,
  fairJobs,
  idempotentJobs,
  keyRoles,
  eventReviews,
  keptAnswers,
  consoleSessions,
  savedDetectors,
  keptResults,
  incidentReviews,
  seriesMutes,
  sentAlerts,
];

const MIGRATION_LOCK = 7_433_928;

/**
 * Migrates the schema atomically. Concurrent processes migrate once. Throws a ServiceError `configuration` when the
 * schema is newer than this release.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  await database.transaction(async (sql) => {
    if (database.dialect === 'postgres') await sql.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const { integer, strict } = TYPES[database.dialect];
    await sql.query(`CREATE TABLE IF NOT EXISTS schema_version (version ${integer} PRIMARY KEY) ${strict}`);
    const done = await versionOf(sql);
    if (done > migrations.length) {
      const text =
        `The store has version ${done} of the schema, and this release knows ${migrations.length}: ` +
        'run the later release, or restore a copy';
      throw new ServiceError('configuration', text);
    }
    for (const [i, statementsOf] of migrations.entries()) {
      if (i < done) continue;
      for (const statement of statementsOf(TYPES[database.dialect])) await sql.query(statement);
      await sql.query('INSERT INTO schema_version (version) VALUES ($1)', [i + 1]);
    }
  });
}

async function versionOf(sql: Sql): Promise<number> {
  const [{ version }] = await sql.query<{ version: number | null }>(
    'SELECT MAX(version) AS version FROM schema_version',
  );
  return version ?? 0;
}
