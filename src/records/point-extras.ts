/** Fields of few records, next to time and value. */
export interface PointExtras {
  /** Since when a counter counts, or its interval began; always before the time of the point. */
  readonly startMs?: number;
  /** The value is the increase of an interval. */
  readonly isDelta?: boolean;
  /** The rest of an integer beyond 2^53. */
  readonly low?: number;
  /** Its sender, of several of the same series. */
  readonly replica?: string;
  /** Why start or temporality cannot be used. */
  readonly problem?: string;
}

/** An integer as the nearest number, and what that leaves out. */
export function splitInteger(whole: bigint): { readonly value: number; readonly low: number } {
  const value = Number(whole);
  return { value, low: Number(whole - BigInt(value)) };
}

/** The same back again. */
export function wholeInteger(value: number, low: number): bigint {
  return BigInt(value) + BigInt(low);
}
