import type { EventAnswer, EventsAnswer } from '../../../sidecar/wire/schema/event-schema.ts';
import type {
  LiveMessages,
  SeriesPageAnswer,
  SeriesScoresAnswer,
} from '../../../sidecar/wire/schema/history-schema.ts';
import type {
  ConsoleSource,
  EventQuery,
  LiveHandlers,
  ScoresQueryRange,
  SeriesListQuery,
} from '../../view/console-source.ts';
import { getJson, postJson } from './service-calls.ts';

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
      const answer = await getJson<EventsAnswer>('/v1/events', query);
      for (const { updated_at } of answer.events) clock.see(updated_at);
      return answer;
    },
    event: (id) => getJson<EventAnswer>(`/v1/events/${encodeURIComponent(id)}`),
    async seriesList(query: SeriesListQuery) {
      const answer = await getJson<SeriesPageAnswer>('/v1/series', query);
      for (const { timestamp } of answer.series) clock.see(timestamp);
      return answer;
    },
    scores: (series, range: ScoresQueryRange) =>
      getJson<SeriesScoresAnswer>(`/v1/series/${encodeURIComponent(series)}/scores`, range),
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
  const on = <M extends keyof LiveMessages>(name: M, take: (message: LiveMessages[M]) => void) =>
    live.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  on('event', (event) => handlers.onEvent(event));
  on('score', ({ series: worst }) => {
    for (const { timestamp } of worst) clock.see(timestamp);
    handlers.onWorst(worst);
  });
  on('series', ({ scores }) => handlers.onScores(scores));
  return () => live.close();
}
