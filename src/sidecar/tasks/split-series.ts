import type { SeriesBody } from '../wire/series-schema.ts';

/** Each series by itself; views, not copies. */
export function splitSeries({ y, sizes }: Pick<SeriesBody, 'y' | 'sizes'>): Float64Array[] {
  let start = 0;
  return sizes.map((size) => {
    const series = y.subarray(start, start + size);
    start += size;
    return series;
  });
}
