import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Reviewed } from '../../alerts/state/incident-events.ts';
import type { SettledNotification } from '../../alerts/state/outbox.ts';
import type { LoadedConfig } from '../../config/config.ts';
import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { MutedSeries } from '../../series/muted-series.ts';
import type { Database } from '../../store/database/database.ts';
import { openDatabase, STORE_FILE } from '../../store/database/open-store.ts';
import { reviewsOf } from '../../store/event-reviews.ts';
import { type IncidentReviewRecord, incidentReviewsOf } from '../../store/incident-reviews.ts';
import { holdingMutes } from '../../store/mutes.ts';
import { keepSent, type SentAlert } from '../../store/sent-alerts.ts';

/** Ids of one question: a statement has a limited number of parameters. */
const ASKED_MAX = 500;

/** What people have taken on, as the HTTP service keeps it. */
interface Acknowledgements {
  /** Those of these that are acknowledged or muted. */
  among(asked: Reviewed): Promise<Reviewed>;
  /** Mutes of series and detectors that hold. */
  mutes(nowMs: number): Promise<readonly MutedSeries[]>;
  /** Keeps what was sent, where there is a store. */
  keepSent(settled: readonly SettledNotification[], nowMs: number): Promise<void>;
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
    async among(asked) {
      const database = await open();
      if (database === null) return { events: new Set(), incidents: new Set() };
      return {
        events: await takenOf(asked.events, (ids) => reviewsOf(database, ids)),
        incidents: await takenOf(asked.incidents, (ids) => incidentReviewsOf(database, ids)),
      };
    },
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

async function takenOf(
  ids: ReadonlySet<string>,
  reviewsOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, IncidentReviewRecord>>,
): Promise<ReadonlySet<string>> {
  const all = [...ids];
  const taken = new Set<string>();
  for (let first = 0; first < all.length; first += ASKED_MAX) {
    for (const [id, { acknowledged, muted }] of await reviewsOf(all.slice(first, first + ASKED_MAX))) {
      if (acknowledged !== null || muted !== null) taken.add(id);
    }
  }
  return taken;
}

/** An entry for each event or incident of the message. */
function sentAlerts({ notification, death }: SettledNotification, atMs: number): SentAlert[] {
  const { id: notificationId, receiver, route, escalatedAfterMinutes, notices } = notification;
  const message = { atMs, notificationId, receiver, route, escalatedAfterMinutes };
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
