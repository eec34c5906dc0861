import type { ShownChange } from '../../../../api/wire/schema/operations/change-schema.ts';
import { changeText } from '../../../../records/changes/deployment.ts';
import { timeText, zonedText } from '../../../view/words/value-words.ts';
import { html, type Shown } from '../../element/html.ts';

const ROWS = 10;

interface ChangeListProps {
  readonly changes: readonly ShownChange[];
  /** Start of the event; changes shortly before it show how long before. null: no event. */
  readonly beganMs: number | null;
  readonly nowMs: number;
}

/** Deployments and other changes, with their links. Nothing where none is known. */
export function ChangeList({ changes, beganMs, nowMs }: ChangeListProps): Shown {
  if (changes.length === 0) return null;
  const more = changes.length - ROWS;
  return html`<section class="panel" aria-label="Changes"><h2>Changes</h2>
    <ul class="change-list">${changes.slice(0, ROWS).map((change) => {
      const { id, time, text, tags, link } = change;
      const words = beganMs === null ? text : changeText(change, beganMs);
      return html`<li key=${id}><time title=${zonedText(time)}>${timeText(time, nowMs)}</time>
        <span class="name" title=${text}>${
          link === null ? words : html`<a href=${link} rel="noreferrer noopener" target="_blank">${words}</a>`
        }${tags.length > 0 && html`<span class="aside"> ${tags.join(', ')}</span>`}</span></li>`;
    })}</ul>
    ${more > 0 && html`<p class="aside">${`${more} earlier ones in this time.`}</p>`}
  </section>`;
}
