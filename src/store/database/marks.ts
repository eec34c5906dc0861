/** The marks of values in a list: `$1, $2`. */
export function marksOf(values: readonly unknown[], first = 1): string {
  return values.map((_, i) => `$${first + i}`).join(', ');
}

/** The marks of rows that one statement inserts: `($1, $2), ($3, $4)`. */
export function rowMarks(rows: readonly (readonly unknown[])[]): string {
  return rows.map((row, i) => `(${marksOf(row, i * row.length + 1)})`).join(', ');
}
