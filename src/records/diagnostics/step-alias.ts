const UNITS = [
  ['D', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;
/** A measured step is a multiple of a unit when it is at most this share away from it. */
const DEVIATION_MAX = 0.02;

/** A measured step as a frequency that a detector may have: `5min`, `h`, `D`. */
export function stepAlias(stepMs: number): string {
  for (const [unit, unitMs] of UNITS) {
    const times = Math.round(stepMs / unitMs);
    if (times < 1 || Math.abs(times * unitMs - stepMs) > DEVIATION_MAX * stepMs) continue;
    return times === 1 ? unit : `${times}${unit}`;
  }
  return `${Math.max(1, Math.round(stepMs))}ms`;
}
