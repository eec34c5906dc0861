import { appendBatch, readPositions } from './append-batch.ts';
import { dropExcess, type HistoryBounds, PART_LIMITS, type PartLimits, partRowsMax, sealFull } from './maintain.ts';
import type { HistoryReader, HistoryState, HistoryStore, SeriesSelection } from './port/history-port.ts';
import { readDetectors } from './read/read-detectors.ts';
import { readDeadLetter, readDeadLetters, readEvent, readEvents } from './read/read-events.ts';
import { readIncident, readIncidentStanding, readIncidents, readMerged } from './read/read-incidents.ts';
import { readScores } from './read/read-scores.ts';
import { readGroups, readPublished, readSeries, readStanding } from './read/read-series.ts';
import type { HistoryDatabase, HistorySql } from './sql/history-database.ts';
import { SeriesIds } from './sql/series-ids.ts';
import { makeTables } from './sql/tables.ts';

export interface KeptHistoryOptions {
  readonly bounds: HistoryBounds;
  readonly parts?: PartLimits;
  readonly nowMs?: () => number;
}

/** Makes the tables, and returns the history that is in them. The database is closed with it. */
export async function openHistory(database: HistoryDatabase, options: KeptHistoryOptions): Promise<HistoryStore> {
  await makeTables(database);
  const { bounds, parts: given = PART_LIMITS, nowMs = Date.now } = options;
  const parts = { ...given, rowsMax: partRowsMax(bounds, given) };
  const ids = new SeriesIds();
  return {
    ...readerOf(database, nowMs),
    claim: (cluster) =>
      database.write(async (sql) => {
        await sql.query('UPDATE history_version SET cluster = COALESCE(cluster, $1)', [cluster]);
        return (await sql.query<{ cluster: string }>('SELECT cluster FROM history_version'))[0].cluster;
      }),
    positions: () => database.read(readPositions),
    append: async (batch) => {
      const atMs = nowMs();
      try {
        return await database.write(async (sql) => {
          const fresh = await appendBatch(sql, batch, { ids, nowMs: atMs });
          if (fresh.scores.length > 0) await sealFull(sql, parts, atMs);
          return fresh;
        });
      } catch (error) {
        ids.forget();
        throw error;
      }
    },
    maintain: async () => {
      const atMs = nowMs();
      await database.write((sql) => sealFull(sql, parts, atMs));
      await dropExcess(database, bounds, atMs);
    },
    close: () => database.close(),
  };
}

function readerOf(database: HistoryDatabase, nowMs: () => number): HistoryReader {
  const read =
    <A extends readonly unknown[], T>(work: (sql: HistorySql, ...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      database.read((sql) => work(sql, ...args));
  return {
    listSeries: read((sql, selection: SeriesSelection) => readSeries(sql, selection, nowMs())),
    scores: read(readScores),
    listEvents: read(readEvents),
    findEvent: read(readEvent),
    listIncidents: read(readIncidents),
    findIncident: read(readIncident),
    mergedInto: read(readMerged),
    listGroups: read(readGroups),
    published: read(readPublished),
    detectors: read(readDetectors),
    listDeadLetters: read(readDeadLetters),
    findDeadLetter: read(readDeadLetter),
    state: async () => ({ ...(await database.read(readState)), bytes: await database.bytes() }),
    standing: read(async (sql) => {
      const atMs = nowMs();
      return { ...(await readStanding(sql, atMs)), incidents: await readIncidentStanding(sql, atMs) };
    }),
  };
}

async function readState(sql: HistorySql): Promise<Omit<HistoryState, 'bytes'>> {
  const [{ series }] = await sql.query<{ series: number }>('SELECT COUNT(*) AS series FROM history_series');
  const [{ scores, oldest }] = await sql.query<{ scores: number; oldest: number | null }>(
    'SELECT CAST(COALESCE(SUM(score_rows), 0) AS INT8) AS scores, MIN(from_time) AS oldest FROM history_parts',
  );
  const [{ events }] = await sql.query<{ events: number }>('SELECT COUNT(*) AS events FROM history_events');
  const deadLetters = await sql.query<{ reason: string; letters: number; newestMs: number }>(
    `SELECT reason, COUNT(*) AS letters, MAX(made_at) AS "newestMs" FROM history_letters
      GROUP BY reason ORDER BY letters DESC, reason`,
  );
  return { positions: await readPositions(sql), series, scores, events, oldestMs: oldest, deadLetters };
}
