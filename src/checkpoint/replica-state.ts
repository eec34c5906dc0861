import type { StateReader, StateWriter } from './state-bytes.ts';

/** The replica of a series that counts. */
interface ReplicaTurn {
  readonly replica: string;
  /** Event time of its newest point. */
  readonly newestMs: number;
  /** Distance of its points. */
  readonly spacingMs: number;
}

/** The series of a group by their ids; one that is scored alone has the empty id. */
export type ActiveReplicas = Map<string, ReplicaTurn>;

/** @param arrivedMs newest event time of the unit */
export function writeReplicas(writer: StateWriter, turns: ActiveReplicas, arrivedMs: number): void {
  writer.number(turns.size);
  for (const [series, { replica, newestMs, spacingMs }] of turns) {
    writer.text(series);
    writer.text(replica);
    writer.number(arrivedMs - newestMs);
    writer.number(spacingMs);
  }
}

export function readReplicas(reader: StateReader, arrivedMs: number): ActiveReplicas {
  const read = Array.from({ length: reader.number() }, () => {
    const [series, replica] = [reader.text(), reader.text()];
    return [series, { replica, newestMs: arrivedMs - reader.number(), spacingMs: reader.number() }] as const;
  });
  return new Map(read);
}
