import type { Database } from './database.ts';

interface StoreSeconds {
  observe(labels: { readonly operation: 'query' | 'transaction' }, seconds: number): void;
}

/** Records the duration of each operation of the store, waiting included, also when it failed. */
export function timedDatabase(database: Database, durations: StoreSeconds): Database {
  const timed = async <T>(operation: 'query' | 'transaction', run: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    try {
      return await run();
    } finally {
      durations.observe({ operation }, (performance.now() - startedMs) / 1_000);
    }
  };
  return {
    dialect: database.dialect,
    query: (text, values) => timed('query', () => database.query(text, values)),
    transaction: (work) => timed('transaction', () => database.transaction(work)),
    close: () => database.close(),
  };
}
