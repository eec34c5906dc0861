/** Requests of small drawings that run at once. */
const AT_ONCE_MAX = 4;

const waiting: (() => void)[] = [];
let running = 0;

/** Runs background reads a few at a time, so that they do not stand before what a person requested. */
export async function inTurn(read: () => Promise<void>): Promise<void> {
  if (running >= AT_ONCE_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    await read();
  } catch {
    // A drawing that cannot be read stays empty; the page itself shows why.
  } finally {
    running--;
    waiting.shift()?.();
  }
}
