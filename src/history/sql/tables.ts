import { ServiceError } from '../../ops/service-error.ts';
import type { HistoryDatabase, HistorySql } from './history-database.ts';
import { SCORE_COLUMNS } from './score-row.ts';

const SCORE = SCORE_COLUMNS.map(({ name, type }) => `${name} ${type}`).join(', ');

/** Raised with every change of the tables. */
const VERSION = 4;

/**
 * Tables other than the parts of scores, which score-parts.ts makes.
 * `history_series` holds the newest score of each series, `history_hours` how much is kept of each detector.
 */
const TABLES: readonly string[] = [
  `CREATE TABLE history_positions (
      source TEXT, partition INT4, topic_id TEXT, next_offset INT8, PRIMARY KEY (source, partition))`,
  `CREATE TABLE history_series (
      id INT4 PRIMARY KEY, name TEXT UNIQUE, detector TEXT, member_of TEXT, kept_at INT8, ${SCORE})`,
  `CREATE TABLE history_parts (
      part INT4 PRIMARY KEY, sealed INT2, score_rows INT8, from_time INT8, to_time INT8,
      opened_at INT8, filled_at INT8)`,
  `CREATE TABLE history_hours (
      detector TEXT, hour INT8, observations INT8, alarms INT8, PRIMARY KEY (detector, hour))`,
  `CREATE TABLE history_events (
      id TEXT PRIMARY KEY, revision INT4, detector TEXT, series TEXT, member_of TEXT, kind TEXT,
      started INT8, ended INT8, kept_at INT8, record TEXT)`,
  `CREATE TABLE history_members (event_id TEXT, series TEXT, PRIMARY KEY (event_id, series))`,
  `CREATE TABLE history_letters (
      partition INT4, letter_offset INT8, reason TEXT, made_at INT8, record TEXT,
      PRIMARY KEY (partition, letter_offset))`,
];

/** Version 2: incidents, the events that each has named, and when an event was first kept. */
const INCIDENT_TABLES: readonly string[] = [
  `CREATE TABLE history_incidents (
      id TEXT PRIMARY KEY, kind TEXT, merged_into TEXT, started INT8, ended INT8, kept_at INT8, record TEXT)`,
  `CREATE TABLE history_incident_events (
      event_id TEXT PRIMARY KEY, incident_id TEXT, detector TEXT, series TEXT, member_of TEXT, started INT8,
      record TEXT)`,
  'ALTER TABLE history_events ADD COLUMN first_kept_at INT8',
];

/** Version 3: from when until when a series was judged. The target rate is about events: alarms are not counted. */
const JUDGED_COLUMNS = [
  'ALTER TABLE history_series ADD COLUMN judged_from INT8',
  'ALTER TABLE history_series ADD COLUMN judged_to INT8',
  'ALTER TABLE history_hours DROP COLUMN alarms',
];

/** Version 4: the step of a series, and the id of the Kafka cluster that the history is of. */
const CLUSTER_COLUMNS = [
  'ALTER TABLE history_series ADD COLUMN step INT8',
  'ALTER TABLE history_version ADD COLUMN cluster TEXT',
];

export const NEWEST_BATCH = 'newest_batch';

export async function makeBatchTable(sql: HistorySql): Promise<void> {
  await sql.query(
    `CREATE TEMPORARY TABLE IF NOT EXISTS ${NEWEST_BATCH} (
      id INT4, detector TEXT, member_of TEXT, kept_at INT8, judged_from INT8, judged_to INT8, step INT8, ${SCORE})`,
  );
  await sql.query(`TRUNCATE ${NEWEST_BATCH}`);
}

/** Makes the tables that are missing. Throws a ServiceError where they are of a newer release. */
export async function makeTables(database: HistoryDatabase): Promise<void> {
  await database.write(async (sql) => {
    await sql.query('CREATE TABLE IF NOT EXISTS history_version (version INT4, forgotten INT4)');
    const [row] = await sql.query<{ version: number }>('SELECT version FROM history_version');
    if (row === undefined) {
      const all = [...TABLES, ...INCIDENT_TABLES, ...JUDGED_COLUMNS, ...CLUSTER_COLUMNS];
      for (const statement of all) await sql.query(statement);
      await sql.query(`INSERT INTO history_version (version, forgotten) VALUES (${VERSION}, 0)`);
    } else if (row.version < VERSION) {
      const missing = [
        ...(row.version < 2 ? INCIDENT_TABLES : []),
        ...(row.version < 3 ? JUDGED_COLUMNS : []),
        ...CLUSTER_COLUMNS,
      ];
      for (const statement of missing) await sql.query(statement);
      await sql.query(`UPDATE history_version SET version = ${VERSION}`);
    } else if (row.version !== VERSION) {
      throw new ServiceError(
        'configuration',
        `The history is of version ${row.version}, this release reads ${VERSION}: move it away to begin a new one`,
      );
    }
  });
}
