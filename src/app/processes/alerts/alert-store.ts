import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SettledNotification } from '../../../alerts/state/outbox.ts';
import type { LoadedConfig } from '../../../config/config.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import type { MutedSeries } from '../../../records/series/muted-series.ts';
import type { Database } from '../../../store/database/database.ts';
import { openDatabase, STORE_FILE } from '../../../store/database/open-store.ts';
import { holdingMutes } from '../../../store/mutes.ts';
import { keepSent, type SentAlert } from '../../../store/sent-alerts.ts';

/** The store of the HTTP service, as far as alerts read and write it. */
interface AlertStore {
  /** Mutes of series and detectors that hold. */
  mutes(nowMs: number): Promise<readonly MutedSeries[]>;
  /** Keeps what was sent, where there is a store. */
  keepSent(settled: readonly SettledNotification[], nowMs: number): Promise<void>;
  close(): Promise<void>;
}

/** The store is opened when it is first read, and only where there is one: alerts need none. */
export function openAlertStore({ dataDir, storeUrl }: LoadedConfig): AlertStore {
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
    async mutes(nowMs) {
      const database = await open();
      return database === null ? [] : holdingMutes(database, nowMs);
    },
    async keepSent(settled, nowMs) {
      const database = await open();
      if (database === null) return;
      const sent = settled.flatMap((each) => sentAlerts(each, nowMs));
      await database.transaction((sql) => keepSent(sql, sent));
    },
    close: async () => (await store?.catch(() => null))?.close(),
  };
}

/** An entry for each event or incident of the message. */
function sentAlerts({ notification, death }: SettledNotification, atMs: number): SentAlert[] {
  const { id: notificationId, receiver, route, notices } = notification;
  const message = { atMs, notificationId, receiver, route };
  const [outcome, detail] = [death?.reason ?? 'accepted', death?.detail ?? null];
  return notices.map((notice) => {
    const subject =
      'event' in notice
        ? { about: 'event' as const, subjectId: notice.event.eventId, subject: nameOf(notice.event) }
        : { about: 'incident' as const, subjectId: notice.incident.incidentId, subject: notice.incident.summary };
    return { ...message, ...subject, type: notice.type, outcome, detail };
  });
}

const nameOf = ({ series, group, detector }: Pick<AnomalyEvent, 'series' | 'group' | 'detector'>) =>
  series ?? group ?? `detector ${detector}`;
