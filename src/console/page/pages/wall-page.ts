import { useEffect } from 'preact/hooks';
import { eventUrgency } from '../../../record/urgency.ts';
import { farOutText, isMuted, kindName, subjectName, worstFirst } from '../../view/event-words.ts';
import { counted, elapsedText, timeText } from '../../view/number-words.ts';
import { routeTo } from '../../view/route.ts';
import { EventSparkline } from '../chart/event-sparkline.ts';
import { type Console, useNow, useOpenEvents } from '../element/hooks.ts';
import { classes, html, type Shown } from '../element/html.ts';
import { Icon } from '../element/icons.ts';

/** What fits on a screen that is read from across a room. */
const TILES_MAX = 12;

/** Now, for a screen on a wall: large, without anything to click but the way back. */
export function WallPage({ app }: { readonly app: Console }): Shown {
  const { events, total, connected } = useOpenEvents(app);
  const nowMs = useNow(app.source);
  useEffect(() => {
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') location.hash = routeTo('now');
    };
    addEventListener('keydown', leave);
    return () => removeEventListener('keydown', leave);
  }, []);
  const shown = worstFirst(events ?? [], nowMs)
    .filter((event) => !isMuted(event, nowMs))
    .slice(0, TILES_MAX);
  return html`<main class="wall">
    <header>
      <h1>${total === 0 ? 'All is as expected' : `${counted(total, 'event')} open`}</h1>
      ${!connected && html`<p class="failure" role="status">not connected, what is shown may be old</p>`}
      <time>${timeText(nowMs, nowMs)}</time>
      <a href=${routeTo('now')} aria-label="Leave the wall"><${Icon} name="close" /></a>
    </header>
    <ul class=${classes('wall-tiles', shown.length <= 4 && 'few')}>
      ${shown.map(
        (event) => html`<li key=${event.event_id}
          class=${classes('wall-tile', `urgency-${eventUrgency(event)}`, event.acknowledged !== null && 'quiet')}>
          <p class="wall-name" title=${subjectName(event)}>${subjectName(event)}</p>
          <p class="wall-far">${farOutText(event)}</p>
          <${EventSparkline} source=${app.source} event=${event} width=${320} height=${80} />
          <p class="wall-foot"><span><${Icon} name=${event.kind} /> ${kindName(event.kind)}</span>
            <time>${elapsedText(nowMs - event.started_at)}</time></p>
        </li>`,
      )}
    </ul>
    ${total > shown.length && html`<p class="aside">and ${total - shown.length} more</p>`}
  </main>`;
}
