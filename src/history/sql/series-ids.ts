import type { KeptScore } from '../port/history-port.ts';
import type { HistorySql, HistoryWritingSql } from './history-database.ts';
import { SCORE_COLUMNS } from './score-row.ts';

/** Series whose ids are held in memory; the map is cleared when it is full. */
const IDS_MAX = 1_000_000;
const NAMES_AT_ONCE = 500;

/** Numbers of series: rows hold four bytes instead of a name. */
export class SeriesIds {
  readonly #known = new Map<string, number>();
  #forgotten = 0;

  /** After a failed transaction, whose ids are not stored. */
  forget(): void {
    this.#known.clear();
  }

  /** Ids of all series of the scores; those of new series are given and stored. */
  async resolve(sql: HistoryWritingSql, scores: readonly KeptScore[]): Promise<ReadonlyMap<string, number>> {
    // Maintenance may have dropped series.
    const [{ forgotten }] = await sql.query<{ forgotten: number }>('SELECT forgotten FROM history_version');
    if (this.#known.size > IDS_MAX || forgotten !== this.#forgotten) this.#known.clear();
    this.#forgotten = forgotten;
    const missing = new Set<string>();
    for (const { series } of scores) if (!this.#known.has(series)) missing.add(series);
    if (missing.size === 0) return this.#known;
    const names = [...missing];
    for (let i = 0; i < names.length; i += NAMES_AT_ONCE) await this.#find(sql, names.slice(i, i + NAMES_AT_ONCE));
    const unknown = names.filter((name) => !this.#known.has(name));
    if (unknown.length > 0) await this.#add(sql, unknown);
    return this.#known;
  }

  async #find(sql: HistorySql, names: readonly string[]): Promise<void> {
    const marks = names.map((_, i) => `$${i + 1}`).join(', ');
    const rows = await sql.query<{ id: number; name: string }>(
      `SELECT id, name FROM history_series WHERE name IN (${marks})`,
      names,
    );
    for (const { id, name } of rows) this.#known.set(name, id);
  }

  async #add(sql: HistoryWritingSql, names: readonly string[]): Promise<void> {
    const [{ last }] = await sql.query<{ last: number }>('SELECT COALESCE(MAX(id), 0) AS last FROM history_series');
    const ids = names.map((_, i) => last + 1 + i);
    const values = names.map(() => null);
    await sql.insert('history_series', [
      { name: 'id', type: 'int4', values: ids },
      { name: 'name', type: 'text', values: names },
      { name: 'detector', type: 'text', values },
      { name: 'member_of', type: 'text', values },
      { name: 'kept_at', type: 'int8', values },
      ...SCORE_COLUMNS.map(({ name, type }) => ({ name, type, values })),
      ...['judged_from', 'judged_to', 'step'].map((name) => ({ name, type: 'int8' as const, values })),
    ]);
    for (const [i, name] of names.entries()) this.#known.set(name, ids[i]);
  }
}
