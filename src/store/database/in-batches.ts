/** Rows per statement. Other statements run in between. */
export const ROWS_AT_ONCE = 1_000;

/** Repeats until a batch is not full. Returns the number of rows. */
export async function untilDone(some: () => Promise<number>): Promise<number> {
  for (let all = 0; ; ) {
    const rows = await some();
    all += rows;
    if (rows < ROWS_AT_ONCE) return all;
  }
}
