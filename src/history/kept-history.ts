import { appendBatch, readPositions } from './append-batch.ts';
import { dropExcess, type HistoryBounds, PART_LIMITS, type PartLimits, partRowsMax, sealFull } from './maintain.ts';
import type {
  DeadLetterSelection,
  GroupSelection,
  HistoryBatch,
  HistoryPlace,
  HistoryState,
  HistoryStore,
  PublishedSelection,
  ScoreRange,
  SeriesSelection,
} from './port/history-port.ts';
import type { EventSelection, IncidentSelection } from './port/span-port.ts';
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
  return new KeptHistory(database, options);
}

class KeptHistory implements HistoryStore {
  readonly #database: HistoryDatabase;
  readonly #bounds: HistoryBounds;
  readonly #parts: PartLimits;
  readonly #nowMs: () => number;
  readonly #ids = new SeriesIds();

  constructor(database: HistoryDatabase, { bounds, parts = PART_LIMITS, nowMs = Date.now }: KeptHistoryOptions) {
    this.#database = database;
    this.#bounds = bounds;
    this.#parts = { ...parts, rowsMax: partRowsMax(bounds, parts) };
    this.#nowMs = nowMs;
  }

  claim(cluster: string): Promise<string> {
    return this.#database.write(async (sql) => {
      await sql.query('UPDATE history_version SET cluster = COALESCE(cluster, $1)', [cluster]);
      return (await sql.query<{ cluster: string }>('SELECT cluster FROM history_version'))[0].cluster;
    });
  }

  positions() {
    return this.#database.read(readPositions);
  }

  async append(batch: HistoryBatch): Promise<HistoryBatch> {
    const nowMs = this.#nowMs();
    try {
      return await this.#database.write(async (sql) => {
        const fresh = await appendBatch(sql, batch, { ids: this.#ids, nowMs });
        if (fresh.scores.length > 0) await sealFull(sql, this.#parts, nowMs);
        return fresh;
      });
    } catch (error) {
      this.#ids.forget();
      throw error;
    }
  }

  async maintain(): Promise<void> {
    const nowMs = this.#nowMs();
    await this.#database.write((sql) => sealFull(sql, this.#parts, nowMs));
    await dropExcess(this.#database, this.#bounds, nowMs);
  }

  listSeries(selection: SeriesSelection) {
    return this.#database.read((sql) => readSeries(sql, selection, this.#nowMs()));
  }

  scores(range: ScoreRange) {
    return this.#database.read((sql) => readScores(sql, range));
  }

  listEvents(selection: EventSelection) {
    return this.#database.read((sql) => readEvents(sql, selection));
  }

  findEvent(id: string) {
    return this.#database.read((sql) => readEvent(sql, id));
  }

  listIncidents(selection: IncidentSelection) {
    return this.#database.read((sql) => readIncidents(sql, selection));
  }

  findIncident(id: string) {
    return this.#database.read((sql) => readIncident(sql, id));
  }

  mergedInto(incidentIds: readonly string[]) {
    return this.#database.read((sql) => readMerged(sql, incidentIds));
  }

  listGroups(selection: GroupSelection) {
    return this.#database.read((sql) => readGroups(sql, selection));
  }

  published(selection: PublishedSelection) {
    return this.#database.read((sql) => readPublished(sql, selection));
  }

  detectors() {
    return this.#database.read(readDetectors);
  }

  listDeadLetters(selection: DeadLetterSelection) {
    return this.#database.read((sql) => readDeadLetters(sql, selection));
  }

  findDeadLetter(place: HistoryPlace) {
    return this.#database.read((sql) => readDeadLetter(sql, place));
  }

  async state(): Promise<HistoryState> {
    const [state, bytes] = [await this.#database.read(readState), await this.#database.bytes()];
    return { ...state, bytes };
  }

  standing() {
    const nowMs = this.#nowMs();
    return this.#database.read(async (sql) => {
      return { ...(await readStanding(sql, nowMs)), incidents: await readIncidentStanding(sql, nowMs) };
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
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
