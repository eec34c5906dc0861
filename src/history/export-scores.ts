import { existsSync } from 'node:fs';
import { ServiceError } from '../ops/service-error.ts';
import { SCORE_STATES } from '../records/score-record.ts';
import { openDuckdb } from './duckdb-history.ts';
import type { HistorySql } from './sql/history-database.ts';
import { listParts, partsWithin, partTable } from './sql/score-parts.ts';
import { IS_ALARM, IS_ANOMALY, SCORE_COLUMNS, STATE_PLACE } from './sql/score-row.ts';
import { makeTables } from './sql/tables.ts';

interface ExportedScores {
  /** Event times: `fromMs <= time < toMs`, milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The file of a DuckDB history, which no other process has open. */
  readonly history: string;
  /** The file that is written; one that is there is replaced. */
  readonly out: string;
  readonly memoryMb: number;
}

/** Writes scores as Parquet, in no order. Returns how many. Throws a ServiceError. */
export async function exportScores({ history, memoryMb, ...range }: ExportedScores): Promise<number> {
  if (!existsSync(history)) throw new ServiceError('configuration', `There is no history ${history}: set DATA_DIR`);
  const database = await openDuckdb(history, { memoryMb }).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'store-unavailable')) throw error;
    const text = `The history ${history} is open in another process: stop it first, or export a copy of the file`;
    throw new ServiceError('store-unavailable', text, { cause: error });
  });
  try {
    await makeTables(database);
    return await database.read((sql) => copy(sql, range));
  } finally {
    await database.close();
  }
}

type ExportedRange = Pick<ExportedScores, 'fromMs' | 'toMs' | 'out'>;

const STATES = `[${SCORE_STATES.map((state) => `'${state}'`).join(', ')}][${STATE_PLACE} + 1]`;
const COLUMNS = [
  'name AS series, detector, member_of AS "group", make_timestamptz(kept.time * 1000) AS timestamp',
  'kept.value, kept.forecast, kept.lo, kept.hi, kept.score AS anomaly_score, kept.grade, kept.severity',
  `${IS_ALARM} AS alarm, ${IS_ANOMALY} AS anomaly, ${STATES} AS state`,
]
  .join(', ')
  .replaceAll('flags', 'kept.flags');

async function copy(sql: HistorySql, { fromMs, toMs, out }: ExportedRange): Promise<number> {
  const parts = partsWithin(await listParts(sql), fromMs, toMs).map((part) => `SELECT * FROM ${partTable(part)}`);
  const columns = SCORE_COLUMNS.map(({ name }) => name).join(', ');
  const empty = `SELECT id AS series, ${columns} FROM history_series WHERE false`;
  const kept = [empty, ...parts].join(' UNION ALL ');
  // A statement that copies takes no parameters.
  const [{ Count: rows }] = await sql.query<{ Count: number }>(
    `COPY (SELECT ${COLUMNS} FROM (${kept}) AS kept JOIN history_series ON history_series.id = kept.series
      WHERE kept.time >= ${fromMs} AND kept.time < ${toMs})
      TO '${out.replaceAll("'", "''")}' (FORMAT parquet, COMPRESSION zstd)`,
  );
  return rows;
}
