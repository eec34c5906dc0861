import type { AnomalyEvent } from '../records/anomaly-event.ts';
import { eventLine } from '../tools/terminal/event-text.ts';
import type { ScoreLineStyle } from '../tools/terminal/score-line.ts';
import { causeOf } from './demo-cause.ts';
import { timeOf } from './demo-time.ts';

/** Events of the history that are shown, the newest ones. */
const HISTORY_EVENTS_MAX = 5;
/** The events of the history are all there so long after its last score was. */
const SETTLED_MS = 1_500;

/** The events that `start` shows, each beside the incident of the demo that it is. */
export class DemoEvents {
  readonly #liveMs: number;
  readonly #style: ScoreLineStyle;
  /** Events of the history by id, as they were opened. */
  readonly #past = new Map<string, AnomalyEvent>();
  /** Lines of live events that came before the history was scored. */
  #held: string[] = [];
  #liveSinceMs = Number.POSITIVE_INFINITY;

  /** @param liveStart first live step; earlier ones are history */
  constructor(liveStart: number, style: ScoreLineStyle) {
    this.#liveMs = timeOf(liveStart);
    this.#style = style;
  }

  /** Lines of the live ones, as they are opened and closed; none until the live scores run. */
  take(events: readonly AnomalyEvent[], isLive: boolean): string[] {
    const live = events.filter(({ updatedAtMs }) => updatedAtMs >= this.#liveMs);
    for (const event of events) {
      if (event.type === 'opened' && event.updatedAtMs < this.#liveMs) this.#past.set(event.eventId, event);
    }
    const lines = live.filter(({ type }) => type !== 'updated').map((event) => this.#line(event));
    if (isLive) return lines;
    this.#held.push(...lines);
    return [];
  }

  /** What the history had, once, and the live events since; empty until the live scores run. */
  summary(isLive: boolean, nowMs: number): string[] {
    if (!isLive || this.#past.size === 0) return [];
    this.#liveSinceMs = Math.min(this.#liveSinceMs, nowMs);
    if (nowMs - this.#liveSinceMs < SETTLED_MS) return [];
    const past = [...this.#past.values()].sort((a, b) => a.startedAtMs - b.startedAtMs);
    this.#past.clear();
    this.#liveSinceMs = Number.POSITIVE_INFINITY;
    const explained = past.filter((event) => incidentOfEvent(event) !== null).length;
    const counts = `${past.length} events, ${explained} of them incidents of the demo`;
    const shown = past.slice(-HISTORY_EVENTS_MAX).map((event) => this.#line(event));
    return [`In the history: ${counts}, lately:`, ...shown, ...this.#held.splice(0)];
  }

  #line(event: AnomalyEvent): string {
    return `${eventLine(event, this.#style)}  <- ${incidentOfEvent(event) ?? 'nothing: a false alarm'}`;
  }
}

/** The incident that an event found; null where there was none. */
function incidentOfEvent({ series, members, firstAlarmAtMs }: AnomalyEvent): string | null {
  const ids = series === null ? members.map((member) => member.series) : [series];
  for (const id of ids) {
    const cause = causeOf({ series: id, timestampMs: firstAlarmAtMs });
    if (cause !== null) return cause;
  }
  return null;
}
