import type { ReportData } from '../../../api/wire/schema/operations/backtest-schema.ts';

/** A backtest that is shown, and for whom. */
interface KeptReport {
  /** Name of the key that signed in. */
  readonly owner: string;
  readonly report: ReportData;
}

const DATABASE = 'tidewatch';
const STORE = 'reports';
const SHOWN = 'shown';

/** A backtest is too large for the small storage of a browser. */
function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return answered(request);
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** A page that is left before that loses what was written. */
function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

async function inStore<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await opened();
  try {
    const transaction = database.transaction(STORE, mode);
    const found = await answered(act(transaction.objectStore(STORE)));
    if (mode === 'readwrite') await completed(transaction);
    return found;
  } finally {
    database.close();
  }
}

/** Keeps the shown backtest in this browser; null: none is shown any more. */
export async function keepReport(kept: KeptReport | null): Promise<void> {
  try {
    if (kept === null) await inStore('readwrite', (store) => store.delete(SHOWN));
    else await inStore('readwrite', (store) => store.put(kept, SHOWN));
  } catch {
    // Without storage, as in a private window, a backtest lasts as long as the page.
  }
}

/** The backtest that this key was shown when the page was left; null without one. */
export async function keptReport(owner: string): Promise<ReportData | null> {
  const kept = await inStore<KeptReport | undefined>('readonly', (store) => store.get(SHOWN)).catch(() => undefined);
  return kept?.owner === owner ? kept.report : null;
}
