import { TERMS, type Term } from '../../view/terms.ts';
import { html, type Shown } from './html.ts';

/** What words of a list or drawing mean, where they stand; for keys and fingers too, which no title is for. */
export function Meanings({ of }: { readonly of: readonly Term[] }): Shown {
  return html`<details class="meanings"><summary>What ${of.slice(0, -1).join(', ')} and ${of.at(-1)} mean</summary>
    <dl>${of.map((term) => html`<div><dt>${term}</dt><dd>${TERMS[term]}.</dd></div>`)}</dl></details>`;
}
