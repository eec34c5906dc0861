import { eventUrgency } from '../../../records/urgency.ts';
import { timelineLanes } from '../../view/scores/timeline-lanes.ts';
import { addressOf, kindName, subjectName } from '../../view/words/event-words.ts';
import { timeText, zonedText } from '../../view/words/value-words.ts';
import type { Props } from '../element/hooks.ts';
import { classes, html, type Shown } from '../element/html.ts';

const LANES_MAX = 12;
const MARKS = [0, 0.25, 0.5, 0.75, 1];

/** A lane for each detector. The list below has the same events, so screen readers skip the drawing. */
export function EventTimeline({ events, nowMs }: Props<'events' | 'nowMs'>): Shown {
  const from = Math.min(...events.map(({ startedAtMs }) => startedAtMs));
  const to = Math.max(nowMs, ...events.map(({ endedAtMs, startedAtMs }) => endedAtMs ?? startedAtMs));
  const lanes = [...timelineLanes(events, { from, to }, nowMs)].slice(0, LANES_MAX);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  return html`<div class="panel timeline" aria-hidden="true">
    ${lanes.map(
      ([name, bars]) => html`<div class="lane"><span class="name" title=${name}>${name}</span>
        <div class="track">${bars.map(
          ({ event, left, width }) => html`<a href=${addressOf(event)} tabindex="-1"
            class=${classes('bar', `urgency-${eventUrgency(event)}`, event.endedAtMs === null && 'open')}
            style=${{ left: percent(left), width: percent(width) }}
            title=${`${subjectName(event)}: ${kindName(event.kind)}, ${zonedText(event.startedAtMs)}`} />`,
        )}</div></div>`,
    )}
    <div class="lane axis"><span /><div class="track">${MARKS.map(
      (share) => html`<time style=${{ left: percent(share) }}>${timeText(from + share * (to - from), nowMs)}</time>`,
    )}</div></div>
  </div>`;
}
