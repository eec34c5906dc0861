const DECIMALS_MAX = 17;

/**
 * The value that is kept as a distance from an origin: of all that are kept alike the roundest one. So 0 is 0, though
 * its distance from 81.38 is off by 3e-6. `+ 0` makes 0 of -0.
 */
export function keptValue(origin: number, distance: number): number {
  const value = origin + distance;
  const size = Math.max(Math.abs(origin), Math.abs(distance));
  const first = size > 0 ? Math.floor(Math.log10(size)) : 0;
  for (let decimals = -first; decimals <= DECIMALS_MAX - first; decimals++) {
    const round = decimals > 0 ? Number(value.toFixed(Math.min(decimals, 100))) : roundTo(value, 10 ** -decimals);
    if (Math.fround(round - origin) === distance) return round + 0;
  }
  return value;
}

function roundTo(value: number, quantum: number): number {
  return Math.round(value / quantum) * quantum;
}
