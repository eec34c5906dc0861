import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleSource } from '../../view/console-source.ts';
import { before, COMPARED_WITH, comparedValues } from '../../view/scores/compared.ts';
import type { ShownScores } from '../../view/scores/shown-scores.ts';
import type { SeriesHistoryState } from './series-history.ts';

const POINTS = 2_400;
const READ_AFTER_MS = 300;

interface Compared {
  readonly source: ConsoleSource;
  readonly series: string;
  /** A name of COMPARED_WITH; any other one compares with nothing. */
  readonly name: string;
}

/** Values of the same series so long before, at the times of the columns; null if nothing is compared. */
export function useComparedValues(
  { source, series, name }: Compared,
  { columns, range }: Pick<SeriesHistoryState, 'columns' | 'range'>,
): readonly (number | null)[] | null {
  const ms = Object.hasOwn(COMPARED_WITH, name) ? COMPARED_WITH[name].ms : null;
  const [earlier, setEarlier] = useState<{ readonly ms: number; readonly columns: ShownScores } | null>(null);
  useEffect(() => {
    if (ms === null || range === null) return undefined;
    const { from, to } = before(range, ms);
    const read = () =>
      source.scores(series, { from: Math.round(from), to: Math.round(to), points: POINTS }).then(
        (found) => setEarlier({ ms, columns: found }),
        () => setEarlier(null),
      );
    const timer = setTimeout(read, READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [source, series, ms, range]);
  return useMemo(
    () => (ms === null || earlier?.ms !== ms ? null : comparedValues(columns, earlier.columns, ms)),
    [columns, earlier, ms],
  );
}
