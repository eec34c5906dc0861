import type { ServerResponse } from 'node:http';
import type { HistoryFeed, KeptScore, LiveSecond } from '../../history/port/history-port.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';
import { choosesSubject } from '../../records/series/muted-series.ts';
import { type SeriesPattern, seriesPattern } from '../../records/series/series-pattern.ts';
import type { LiveMessages } from '../wire/schema/operations/history-schema.ts';
import { shownSeries } from './shown-records.ts';

/** Connections that read at once, and those of one owner. */
const READERS_MAX = 200;
export const READERS_OF_OWNER_MAX = 50;
/** Interval of checks of keys and sessions: with their cache, a revocation ends a reader within 5 s. */
const CHECK_MS = 2_000;
/** Time that a reader has for the notice that ends its answer. */
const END_MS = 1_000;
/** Bytes that wait for a slow reader. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

interface LiveSelection {
  /** Every observation of this series is sent. */
  readonly series: string | null;
  /** Only series and events that this chooses, a glob or matchers, are sent otherwise; null: all. */
  readonly match: string | null;
  /** Series of one message, worst first. */
  readonly limit: number;
}

interface LiveReader {
  readonly owner: string;
  /** True if its key or session may still read. A rejection leaves the answer to the next check. */
  isAdmitted(): Promise<boolean>;
}

/**
 * Sends what arrives to readers of server-sent events: once a second the worst of the series that were observed, so
 * that thousands of observations a second stay one message. A reader that does not keep up is dropped with a notice;
 * it reconnects.
 */
export class LiveReaders {
  readonly #feed: HistoryFeed;
  readonly #readers = new Map<ServerResponse, LiveReader & { readonly unsubscribe: () => void }>();
  #checking: NodeJS.Timeout | null = null;
  /** The text of one second is made once for all readers of the same selection. */
  #made: { readonly second: LiveSecond; readonly texts: Map<string, string> } | null = null;

  constructor(feed: HistoryFeed) {
    this.#feed = feed;
  }

  get full(): boolean {
    return this.#readers.size >= READERS_MAX;
  }

  ofOwner(owner: string): number {
    return [...this.#readers.values()].filter((reader) => reader.owner === owner).length;
  }

  /** Answers until the client goes, is too slow, or may read no more. */
  add(raw: ServerResponse, reader: LiveReader, { series, match, limit }: LiveSelection): void {
    const shown = { match, pattern: match === null ? null : seriesPattern([match]), limit };
    raw.write('retry: 2000\n\n');
    const unsubscribe = this.#feed.subscribe((second) => {
      if (raw.writableLength > WAITING_BYTES_MAX) {
        this.#end(raw, { reason: 'slow-reader', detail: 'Messages were left out: read again from now on' });
        return;
      }
      raw.write(this.#text(second, shown));
      const followed = second.followed.filter((score) => score.series === series);
      if (followed.length > 0) raw.write(message('series', { series, scores: followed.map(shownSeries) }));
    }, series);
    this.#readers.set(raw, { ...reader, unsubscribe });
    raw.once('close', () => this.#leave(raw));
    this.#checking ??= setTimeout(() => void this.#check(), CHECK_MS).unref();
  }

  /** Ends every answer: a service that ends waits for open requests. */
  close(): void {
    for (const raw of this.#readers.keys()) {
      this.#end(raw, { reason: 'ending', detail: 'The service is shutting down' });
    }
  }

  /** Ends the answers whose key or session may read no more, and looks again later. */
  async #check(): Promise<void> {
    await Promise.all(
      [...this.#readers].map(async ([raw, reader]) => {
        if (await reader.isAdmitted().catch(() => true)) return;
        this.#end(raw, { reason: 'not-admitted', detail: 'The key or session has ended, or has another role now' });
      }),
    );
    this.#checking = this.#readers.size === 0 ? null : setTimeout(() => void this.#check(), CHECK_MS).unref();
  }

  /** The service does not wait for a slow reader: the client must read again. */
  #end(raw: ServerResponse, notice: { readonly reason: string; readonly detail: string }): void {
    this.#leave(raw);
    raw.end(message('notice', notice));
    setTimeout(() => raw.destroy(), END_MS).unref();
  }

  #leave(raw: ServerResponse): void {
    this.#readers.get(raw)?.unsubscribe();
    this.#readers.delete(raw);
  }

  #text(second: LiveSecond, { match, pattern, limit }: ShownSelection): string {
    if (this.#made?.second !== second) this.#made = { second, texts: new Map() };
    const key = `${limit} ${match ?? ''}`;
    const known = this.#made.texts.get(key);
    if (known !== undefined) return known;
    const { atMs: at, observations, alarms } = second;
    const newest = second.newest.filter(({ series }) => pattern?.test(series) ?? true);
    const events = second.events.filter((event) => pattern === null || isChosen(event, pattern));
    const worst = newest.toSorted(worstFirst).slice(0, limit).map(shownSeries);
    const scores = message('score', { at, observations, alarms, series_observed: newest.length, series: worst });
    const incidents = second.incidents.filter((incident) => pattern === null || isChosenIncident(incident, pattern));
    const text = [
      scores,
      ...events.map((event) => message('event', event)),
      ...incidents.map((incident) => message('incident', incident)),
    ].join('');
    this.#made.texts.set(key, text);
    return text;
  }
}

interface ShownSelection {
  readonly match: string | null;
  readonly pattern: SeriesPattern | null;
  readonly limit: number;
}

/** As GET /v1/events chooses: the series, a member of the group, or the group. */
function isChosen(event: AnomalyEvent, pattern: SeriesPattern): boolean {
  return choosesSubject(pattern, event) || event.members.some((member) => pattern.test(member.series));
}

/** By where it may have begun, and the events that have joined. */
function isChosenIncident({ events, origins }: Incident, pattern: SeriesPattern): boolean {
  return events.some((event) => choosesSubject(pattern, event)) || origins.some(({ series }) => pattern.test(series));
}

function worstFirst(a: KeptScore, b: KeptScore): number {
  return (b.grade ?? -1) - (a.grade ?? -1) || (a.series < b.series ? -1 : 1);
}

function message<E extends keyof LiveMessages>(event: E, data: LiveMessages[E]): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
