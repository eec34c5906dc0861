import { guidanceOf } from '../../../../records/anomaly-event.ts';
import { html, type Shown } from '../../element/html.ts';

/** @param of labels of one event, or of the events of an incident */
export function Guidance({ of }: { readonly of: readonly Readonly<Record<string, string>>[] }): Shown {
  const all = of.map(guidanceOf);
  const distinct = (name: 'runbook' | 'nextStep' | 'owner') => {
    return [...new Set(all.map((each) => each[name]))].filter((text) => text !== '');
  };
  const rows = [
    ['Next step', distinct('nextStep')],
    ['Runbook', distinct('runbook')],
    ['Owner', distinct('owner')],
  ] as const;
  const known = rows.filter(([, texts]) => texts.length > 0);
  if (known.length === 0) return null;
  return html`<dl class="guidance">${known.map(
    ([name, texts]) => html`<div><dt>${name}</dt>${texts.map((text) => html`<dd>${linked(text)}</dd>`)}</div>`,
  )}</dl>`;
}

/** A label may hold an address, such as that of a runbook. */
export function linked(text: string): Shown {
  return /^https?:\/\//.test(text) ? html`<a href=${text} rel="noreferrer" target="_blank">${text}</a>` : text;
}
