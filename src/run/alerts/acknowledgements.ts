import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig } from '../../config/config.ts';
import type { Database } from '../../store/database.ts';
import { reviewsOf } from '../../store/event-reviews.ts';
import { openDatabase, STORE_FILE } from '../../store/open-store.ts';

/** Events of one question: a statement has a limited number of parameters. */
const ASKED_MAX = 500;

/** Events that people have taken on, as the HTTP service keeps them. */
export interface Acknowledgements {
  /** Those of these events that are acknowledged or muted. */
  among(eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

/** The store is opened when it is first read, and only where there is one: alerts need none. */
export function readAcknowledgements({ dataDir, storeUrl }: LoadedConfig): Acknowledgements {
  let store: Promise<Database> | null = null;
  const open = async (): Promise<Database | null> => {
    if (store === null && storeUrl === null && !existsSync(join(dataDir, STORE_FILE))) return null;
    store ??= openDatabase({ dataDir, url: storeUrl }).catch((error: unknown) => {
      store = null;
      throw error;
    });
    return store;
  };
  return {
    async among(eventIds) {
      const database = await open();
      if (database === null) return new Set();
      const taken = new Set<string>();
      for (let first = 0; first < eventIds.length; first += ASKED_MAX) {
        const reviews = await reviewsOf(database, eventIds.slice(first, first + ASKED_MAX));
        for (const { eventId, acknowledged, muted } of reviews.values()) {
          if (acknowledged !== null || muted !== null) taken.add(eventId);
        }
      }
      return taken;
    },
    close: async () => (await store?.catch(() => null))?.close(),
  };
}
