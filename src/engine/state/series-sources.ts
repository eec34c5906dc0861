import { type DeltaLogWrite, KEY_SEPARATOR, memberKey } from '../../checkpoint/delta-log.ts';
import type { RoutedObservation } from '../arrival/routed-observation.ts';
import type { DeadLetterCause, ScoreSink } from '../unit/score-sink.ts';

/** Series of one group that are distinguished; a further one is not. */
const GROUP_SERIES_MAX = 2_000;
const PREFIX = 'l/';

/**
 * Which labels the series of a partition have, where a template makes their ids: by the ids of their names and labels.
 * It is written to the changelog as each series begins, once, and restored: so the same series collide after a restart.
 */
export class SeriesSources {
  /** By the key of their unit, and by their ids. */
  readonly #known = new Map<string, Map<string, string>>();

  sourceOf(unitKey: string, series: string): string | null {
    return this.#known.get(unitKey)?.get(series) ?? null;
  }

  /** Keeps the labels of a series that is new. Returns why it cannot be scored, where another one has its id. */
  claim({ series, source, loaded }: RoutedObservation, unitKey: string, sink: ScoreSink): DeadLetterCause | null {
    if (source === undefined) return null;
    const held = this.sourceOf(unitKey, series);
    if (held === source) return null;
    if (held !== null) {
      const remedy = 'make ids of further labels, or drop others';
      const detail = `${source} would have the id of ${held}, which is scored: ${remedy}`;
      return { reason: 'series-collides', detail, series, detector: loaded.config.name };
    }
    if ((this.#known.get(unitKey)?.size ?? 0) >= GROUP_SERIES_MAX) return null;
    this.#keep(unitKey, series, source);
    sink.state.windowsWritten([{ key: keyOf(unitKey, series), value: Buffer.from(source) }]);
    return null;
  }

  /** Records of the changelog for the series of a unit. */
  recordsOf(unitKey: string): DeltaLogWrite[] {
    const known = [...(this.#known.get(unitKey) ?? [])];
    return known.map(([series, source]) => ({ key: keyOf(unitKey, series), value: Buffer.from(source) }));
  }

  /** Takes a record of the changelog over; false if it is another one. */
  restore(key: Buffer, value: Buffer | null): boolean {
    const text = key.toString();
    if (!text.startsWith(PREFIX)) return false;
    const parts = text.slice(PREFIX.length).split(KEY_SEPARATOR);
    const series = parts.at(-1) ?? '';
    const unitKey = parts.length === 1 ? series : parts.slice(0, -1).join(KEY_SEPARATOR);
    if (value === null) this.#known.get(unitKey)?.delete(series);
    else this.#keep(unitKey, series, value.toString());
    return true;
  }

  /** After a restore: series of units that are not there any more are forgotten. Returns the keys of their records. */
  retain(isRegistered: (unitKey: string) => boolean): Buffer[] {
    return [...this.#known.keys()]
      .filter((unitKey) => !isRegistered(unitKey))
      .flatMap((unitKey) => this.#drop(unitKey));
  }

  forget(unitKey: string, sink: ScoreSink): void {
    const keys = this.#drop(unitKey);
    if (keys.length > 0) sink.state.windowsDeleted(keys);
  }

  #keep(unitKey: string, series: string, source: string): void {
    const known = this.#known.get(unitKey);
    if (known === undefined) this.#known.set(unitKey, new Map([[series, source]]));
    else known.set(series, source);
  }

  #drop(unitKey: string): Buffer[] {
    const known = this.#known.get(unitKey);
    this.#known.delete(unitKey);
    return [...(known?.keys() ?? [])].map((series) => keyOf(unitKey, series));
  }
}

function keyOf(unitKey: string, series: string): Buffer {
  return Buffer.from(PREFIX + (unitKey === series ? series : memberKey(unitKey, series)));
}
