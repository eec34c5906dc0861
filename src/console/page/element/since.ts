import { elapsedText } from '../../view/words/number-words.ts';
import { timeText, zonedText } from '../../view/words/time-words.ts';
import { html, type Shown } from './html.ts';

/** `since 12:00, 55 min`. */
export function Since({ atMs, nowMs }: { readonly atMs: number; readonly nowMs: number }): Shown {
  const text = `since ${timeText(atMs, nowMs)}, ${elapsedText(nowMs - atMs)}`;
  return html`<time class="since" title=${zonedText(atMs)}>${text}</time>`;
}
