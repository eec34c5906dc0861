/**
 * Items in batches of at most `max`. A batch ends early when the next item is not available yet, or failed.
 */
export async function* inBatches<T>(items: AsyncIterable<T>, max: number): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  let batch: T[] = [];
  for (;;) {
    const next = iterator.next();
    // It is handled where it is awaited, which may be a batch later.
    next.catch(() => {});
    if (batch.length >= max || (batch.length > 0 && !(await isAvailable(next)))) {
      yield batch;
      batch = [];
    }
    const item = await next;
    if (item.done === true) break;
    batch.push(item.value);
  }
  if (batch.length > 0) yield batch;
}

function isAvailable(next: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  const item = next.then(
    () => true,
    () => false,
  );
  return Promise.race([item, turn]);
}
