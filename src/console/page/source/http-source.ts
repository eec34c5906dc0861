import type { ChangesAnswer } from '../../../api/wire/schema/operations/change-schema.ts';
import type { DetectorsAnswer } from '../../../api/wire/schema/operations/detectors-schema.ts';
import type { EventAnswer, EventsAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { Freshness } from '../../../api/wire/schema/operations/freshness-schema.ts';
import type {
  LiveMessages,
  SeriesPageAnswer,
  SeriesScoresAnswer,
} from '../../../api/wire/schema/operations/history-schema.ts';
import type { IncidentDetailAnswer, IncidentsAnswer } from '../../../api/wire/schema/operations/incident-schema.ts';
import type { SentAnswer } from '../../../api/wire/schema/operations/sent-schema.ts';
import type { ConsoleSource, LiveHandlers, SourceFailure } from '../../view/console-source.ts';
import { type PageClock, pageNow } from '../../view/page-clock.ts';
import { livePause } from './live-pause.ts';
import { getJson } from './service-calls.ts';

export function httpSource(): ConsoleSource {
  let clock: PageClock | null = null;
  let hasStream = true;
  return {
    kind: 'service',
    nowMs: () => (clock === null ? Date.now() : pageNow(clock, Date.now())),
    async freshness() {
      if (!hasStream) return null;
      try {
        const freshness = await getJson<Freshness>('/v1/freshness');
        clock = { freshness, receivedMs: Date.now() };
        return freshness;
      } catch (error) {
        // The clock stops while the service is away.
        if (clock !== null) clock = { ...clock, isLost: true };
        // A service without Kafka scores files only, until it is restarted.
        if ((error as SourceFailure).status !== 404) throw error;
        hasStream = false;
        return null;
      }
    },
    async detectorWords() {
      const { detectors } = await getJson<DetectorsAnswer>('/v1/detectors');
      const named = detectors.flatMap(({ name, settings: { unit } }) => (unit ? [[name, String(unit)] as const] : []));
      const zones = new Set(detectors.flatMap(({ settings: { timezone } }) => (timezone ? [String(timezone)] : [])));
      return { units: Object.fromEntries(named), zones: [...zones] };
    },
    events: (query) => getJson<EventsAnswer>('/v1/events', query),
    event: (id) => getJson<EventAnswer>(`/v1/events/${encodeURIComponent(id)}`),
    seriesList: (query) => getJson<SeriesPageAnswer>('/v1/series', query),
    scores: (series, range) => getJson<SeriesScoresAnswer>(`/v1/series/${encodeURIComponent(series)}/scores`, range),
    watch: (selection, handlers) => watchService(selection, handlers),
    incidents: (query) => getJson<IncidentsAnswer>('/v1/incidents', query),
    incident: (id) => getJson<IncidentDetailAnswer>(`/v1/incidents/${encodeURIComponent(id)}`),
    changes: async (query) => (await getJson<ChangesAnswer>('/v1/changes', query)).changes,
    sent: (query) => getJson<SentAnswer>('/v1/sent', query),
  };
}

/** Between a connection that was refused and the next one. */
const RETRY_MS = 3_000;
/** Worst series in one message. */
const WORST_MAX = 60;

function watchService({ series, match }: Parameters<ConsoleSource['watch']>[0], handlers: LiveHandlers): () => void {
  const chosen = match === '' ? {} : { match };
  const query = new URLSearchParams({ limit: String(WORST_MAX), ...chosen, ...(series === null ? {} : { series }) });
  let live: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const connect = () => {
    live = new EventSource(`/v1/live?${query}`);
    live.onopen = () => handlers.onConnected?.(true);
    live.onerror = () => {
      handlers.onConnected?.(false);
      // The browser connects again automatically, but not after a refusal, such as that of a proxy before the service.
      if (live.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MS);
    };
    const on = <M extends keyof LiveMessages>(name: M, take: (message: LiveMessages[M]) => void) =>
      live.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
    on('event', (event) => livePause.accept(1, () => handlers.onEvent?.(event)));
    on('incident', (incident) => livePause.accept(1, () => handlers.onIncident?.(incident)));
    on('score', ({ series: worst }) => livePause.state.paused || handlers.onWorst?.(worst));
    on('series', ({ scores }) => livePause.accept(scores.length, () => handlers.onScores?.(scores)));
  };
  connect();
  return () => {
    clearTimeout(retry);
    live.close();
  };
}
