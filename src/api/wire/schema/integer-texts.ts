/** Values of a query are texts. Patterns of those that are integers from 1 to a maximum. */
export const UP_TO = {
  120: '^([1-9][0-9]?|1[01][0-9]|120)$',
  200: '^([1-9][0-9]?|1[0-9][0-9]|200)$',
  400: '^([1-9][0-9]?|[1-3][0-9][0-9]|400)$',
  1000: '^([1-9][0-9]{0,2}|1000)$',
  20000: '^([1-9][0-9]{0,3}|1[0-9]{4}|20000)$',
} as const;

/** The pattern of integers from 0 on. */
export const digitsUpTo = (digits: number) => `^[0-9]{1,${digits}}$`;

const RANGES = new Map<string, string>(
  Object.entries(UP_TO).map(([max, pattern]) => [pattern, `an integer from 1 to ${max}`]),
);

/** Description of the integers that one of these patterns accepts; null for another pattern. */
export function integerWords(pattern: string): string | null {
  const digits = /^\^\[0-9]\{1,(\d+)\}\$$/.exec(pattern)?.[1];
  return RANGES.get(pattern) ?? (digits === undefined ? null : `an integer from 0 on, of at most ${digits} digits`);
}
