import { eventUrgency } from '../../../record/urgency.ts';
import { addressOf, kindName } from '../../view/event-words.ts';
import { momentText, timeText } from '../../view/number-words.ts';
import type { SeenEvent } from '../../view/seen.ts';
import { timelineLanes } from '../../view/timeline-lanes.ts';
import { classes, html, type Shown } from '../element/html.ts';

const LANES_MAX = 12;
const MARKS = [0, 0.25, 0.5, 0.75, 1];

interface EventTimelineProps {
  readonly events: readonly SeenEvent[];
  readonly nowMs: number;
}

/** A lane for each detector. The list below has the same events, so screen readers skip the drawing. */
export function EventTimeline({ events, nowMs }: EventTimelineProps): Shown {
  const from = Math.min(...events.map(({ startedAt }) => startedAt));
  const to = Math.max(nowMs, ...events.map(({ endedAt, startedAt }) => endedAt ?? startedAt));
  const lanes = [...timelineLanes(events, { from, to }, nowMs)].slice(0, LANES_MAX);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  return html`<div class="panel timeline" aria-hidden="true">
    ${lanes.map(
      ([name, bars]) => html`<div class="lane"><span class="name" title=${name}>${name}</span>
        <div class="track">${bars.map(
          ({ event, left, width }) => html`<a href=${addressOf(event)} tabindex="-1"
            class=${classes('bar', `urgency-${eventUrgency(event)}`, event.endedAt === null && 'open')}
            style=${{ left: percent(left), width: percent(width) }}
            title=${`${event.series}: ${kindName(event.kind)}, ${momentText(event.startedAt)}`} />`,
        )}</div></div>`,
    )}
    <div class="lane axis"><span /><div class="track">${MARKS.map(
      (share) => html`<time style=${{ left: percent(share) }}>${timeText(from + share * (to - from), nowMs)}</time>`,
    )}</div></div>
  </div>`;
}
