import { ServiceError } from '../../../ops/service-error.ts';
import { openInput } from '../../../tools/csv/input.ts';
import { type CsvReading, readObservations } from '../../../tools/csv/observations.ts';
import { pullObservations } from '../../../tools/csv/pull.ts';
import type { SeriesColumns } from '../../../tools/suggest/series-columns.ts';

/** Reads a CSV file as `backtest` does. Returns whether all of it could be used; `say` receives what could not. */
export async function addFile(
  columns: SeriesColumns,
  { path, reading }: { readonly path: string; readonly reading: CsvReading },
  { say, stop }: { readonly say: (line: string) => void; readonly stop: AbortSignal },
): Promise<boolean> {
  const input = await openInput(path, stop);
  try {
    const pull = pullObservations(readObservations(input, reading), say);
    for await (const { series, timestampMs, value } of pull.observations) {
      if (!columns.add(series, timestampMs, value)) throw tooMany(columns);
    }
    const lines = [...pull.refusals.lines(), ...pull.problems];
    for (const line of lines) say(line);
    return lines.length === 0;
  } finally {
    input.destroy();
  }
}

export function tooMany({ observations }: SeriesColumns): ServiceError {
  return new ServiceError('configuration', `At most ${observations} observations are looked at: give fewer`);
}
