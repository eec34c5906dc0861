import type { ServerResponse } from 'node:http';
import type { HistoryFeed, KeptScore, LiveSecond } from '../../history/history-port.ts';
import { shownEvent } from './event-answers.ts';

/** Connections that read at once. */
const READERS_MAX = 200;
/** Bytes that wait for a slow reader. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

export interface LiveSelection {
  /** Every observation of this series is sent. */
  readonly series: string | null;
  /** Series of one message, worst first. */
  readonly limit: number;
}

/** A score as it is answered elsewhere. */
type ShowScore = (score: KeptScore) => object;

/**
 * Sends what arrives to readers of server-sent events: once a second the worst of the series that were observed, so
 * that thousands of observations a second stay one message. A reader that does not keep up is dropped with a notice;
 * it connects again by itself.
 */
export class LiveReaders {
  readonly #feed: HistoryFeed;
  readonly #show: ShowScore;
  readonly #readers = new Set<ServerResponse>();
  /** The text for one second and limit is made once for all readers. */
  #made: { readonly second: LiveSecond; readonly texts: Map<number, string> } | null = null;

  constructor(feed: HistoryFeed, show: ShowScore) {
    this.#feed = feed;
    this.#show = show;
  }

  get count(): number {
    return this.#readers.size;
  }

  get full(): boolean {
    return this.#readers.size >= READERS_MAX;
  }

  /** Answers until the client goes, or is too slow. */
  add(raw: ServerResponse, { series, limit }: LiveSelection): void {
    this.#readers.add(raw);
    raw.write('retry: 2000\n\n');
    const unsubscribe = this.#feed.subscribe((second) => {
      if (raw.writableLength > WAITING_BYTES_MAX) {
        raw.end(message('notice', { reason: 'slow-reader', detail: 'Messages were left out: read again from now on' }));
        // What waits is not worth waiting for: the client reads again.
        setImmediate(() => raw.destroy());
        return;
      }
      raw.write(this.#text(second, limit));
      const followed = second.followed.filter((score) => score.series === series);
      if (followed.length > 0) raw.write(message('series', { series, scores: followed.map(this.#show) }));
    }, series);
    raw.once('close', () => {
      this.#readers.delete(raw);
      unsubscribe();
    });
  }

  /** Ends every answer: a service that ends waits for open requests. */
  close(): void {
    for (const raw of this.#readers) raw.end(message('notice', { reason: 'ending', detail: 'The service is ending' }));
  }

  #text(second: LiveSecond, limit: number): string {
    if (this.#made?.second !== second) this.#made = { second, texts: new Map() };
    const known = this.#made.texts.get(limit);
    if (known !== undefined) return known;
    const { atMs: at, observations, alarms, newest, events } = second;
    const worst = newest.toSorted(worstFirst).slice(0, limit).map(this.#show);
    const scores = message('score', { at, observations, alarms, series_observed: newest.length, series: worst });
    const text = scores + events.map((event) => message('event', shownEvent(event))).join('');
    this.#made.texts.set(limit, text);
    return text;
  }
}

function worstFirst(a: KeptScore, b: KeptScore): number {
  return (b.grade ?? -1) - (a.grade ?? -1) || (a.series < b.series ? -1 : 1);
}

function message(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
