export type Cell = string | number;

/**
 * Lines of a table: texts to the left, numbers to the right, large numbers without decimals and small ones with three
 * digits.
 */
export function tableLines(columns: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? shown(cell) : cell)));
  const widths = columns.map((column, i) => Math.max(column.length, ...cells.map((row) => row[i].length)));
  const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ');
  return [columns, widths.map((width) => '-'.repeat(width)), ...cells].map((row) => line(row).trimEnd());
}

export function printTable(title: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  console.log(`\n${title}\n${tableLines(columns, rows).join('\n')}`);
}

/** The same number in a table and in the JSON line. */
export function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

function shown(value: number): string {
  return Number.isFinite(value) ? `${rounded(value)}` : '-';
}
