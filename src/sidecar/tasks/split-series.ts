import type { SeriesBody } from '../wire/schema/series-schema.ts';

/** The series of a request, as views of `y`. */
export function splitSeries({ y, sizes }: Pick<SeriesBody, 'y' | 'sizes'>): Float64Array[] {
  let start = 0;
  return sizes.map((size) => {
    const series = y.subarray(start, start + size);
    start += size;
    return series;
  });
}
