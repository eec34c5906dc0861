/** Values of a query are texts. Patterns of those that are integers from 1 to a maximum. */
export const UP_TO = {
  120: '^([1-9]\\d?|1[01]\\d|120)$',
  200: '^([1-9]\\d?|1\\d\\d|200)$',
  400: '^([1-9]\\d?|[1-3]\\d\\d|400)$',
  1000: '^([1-9]\\d{0,2}|1000)$',
  20000: '^([1-9]\\d{0,3}|1\\d{4}|20000)$',
} as const;

/** The pattern of integers from 0 on. */
export const digitsUpTo = (digits: number) => `^\\d{1,${digits}}$`;

const RANGES = new Map<string, string>(
  Object.entries(UP_TO).map(([max, pattern]) => [pattern, `an integer from 1 to ${max}`]),
);

/** What one of these patterns accepts, in words; null for another pattern. */
export function integerWords(pattern: string): string | null {
  const digits = /^\^\\d\{1,(\d+)\}\$$/.exec(pattern)?.[1];
  return RANGES.get(pattern) ?? (digits === undefined ? null : `an integer from 0 on, of at most ${digits} digits`);
}
