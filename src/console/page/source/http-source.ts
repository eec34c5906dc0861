import type {
  ConsoleSource,
  EventQuery,
  LiveHandlers,
  ScoresQueryRange,
  SeriesListQuery,
} from '../../view/console-source.ts';
import { getJson, postJson } from './service-calls.ts';
import {
  arrivedScore,
  scoreColumns,
  seenEvent,
  seenSeries,
  type WireEvent,
  type WireScores,
  type WireSeries,
} from './wire-answers.ts';

/**
 * The clock of the stream: event time may be behind that of the wall, as where a past is replayed. From one message to
 * the next it goes on like the wall's, and never ahead of it.
 */
class StreamClock {
  #newest = 0;
  #seenAt = 0;

  see(atMs: number): void {
    if (atMs <= this.#newest) return;
    this.#newest = atMs;
    this.#seenAt = Date.now();
  }

  nowMs(): number {
    return this.#newest === 0 ? Date.now() : Math.min(Date.now(), this.#newest + Date.now() - this.#seenAt);
  }
}

/** The running service. */
export function httpSource(): ConsoleSource {
  const clock = new StreamClock();
  const review = (id: string, what: string, body: object) =>
    postJson(`/v1/events/${encodeURIComponent(id)}/${what}`, body);
  return {
    kind: 'service',
    nowMs: () => clock.nowMs(),
    async events(query: EventQuery) {
      const answer = await getJson<{
        events: WireEvent[];
        total_open: number;
        next_cursor: string | null;
      }>('/v1/events', query);
      for (const { updated_at } of answer.events) clock.see(updated_at);
      return { rows: answer.events.map(seenEvent), open: answer.total_open, next: answer.next_cursor };
    },
    async event(id) {
      return seenEvent(await getJson<WireEvent>(`/v1/events/${encodeURIComponent(id)}`));
    },
    async seriesList(query: SeriesListQuery) {
      const answer = await getJson<{ series: WireSeries[]; total: number; next_cursor: string | null }>(
        '/v1/series',
        query,
      );
      for (const { timestamp } of answer.series) clock.see(timestamp);
      return { rows: answer.series.map(seenSeries), total: answer.total, next: answer.next_cursor };
    },
    async scores(series, range: ScoresQueryRange) {
      const answer = await getJson<WireScores>(`/v1/series/${encodeURIComponent(series)}/scores`, range);
      return { detector: answer.detector, group: answer.group, columns: scoreColumns(answer) };
    },
    watch: (series, handlers) => watchService(series, handlers, clock),
    async acknowledge(id, acknowledged) {
      await review(id, 'acknowledge', { acknowledged });
    },
    async mute(id, until, reason) {
      await review(id, 'mute', until === null ? { until } : { until, reason });
    },
    async label(id, real) {
      await review(id, 'label', { real });
    },
  };
}

/** Worst series in one message. */
const WORST_MAX = 60;

function watchService(series: string | null, handlers: LiveHandlers, clock: StreamClock): () => void {
  const query = new URLSearchParams({ limit: String(WORST_MAX), ...(series === null ? {} : { series }) });
  const live = new EventSource(`/v1/live?${query}`);
  live.onopen = () => handlers.onConnected(true);
  // The browser connects again by itself.
  live.onerror = () => handlers.onConnected(false);
  const on = (type: string, take: (parsed: unknown) => void) =>
    live.addEventListener(type, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  on('event', (event) => handlers.onEvent(seenEvent(event as WireEvent)));
  on('score', (message) => {
    const { series: worst } = message as { series: WireSeries[] };
    for (const { timestamp } of worst) clock.see(timestamp);
    handlers.onWorst(worst.map(seenSeries));
  });
  on('series', (message) => handlers.onScores((message as { scores: WireSeries[] }).scores.map(arrivedScore)));
  return () => live.close();
}
