import { html, type Shown } from './html.ts';

const TERMS = {
  grade:
    'how unusual a value is for its own series, from 0 to 1: most series reach 0.5 once in 1,000 observations. A ' +
    'warning from 0.5, an error from 0.8, critical from 0.9',
  severity: 'how much is going on in the series; it has no upper bound, and stays high while the event goes on',
  out: 'how far the value at the peak of the event is from what was expected',
  'outside the interval': 'distance of the peak from the expected interval, in widths of that interval',
  'promised a week': 'false alarms a week that the setting false_alarms of a detector accepts of each series or group',
  'seen a week': 'events a week of each series or group in what is kept, real ones among them',
  'expected interval': 'where a value was expected to lie, by the forecast and the errors of earlier forecasts',
} as const;

type Term = keyof typeof TERMS;

/** Meanings of words of a list or drawing; for keyboards and touch, which show no title. */
export function Meanings({ of }: { readonly of: readonly Term[] }): Shown {
  return html`<details class="meanings"><summary>What ${of.slice(0, -1).join(', ')} and ${of.at(-1)} mean</summary>
    <dl>${of.map((term) => html`<div><dt>${term}</dt><dd>${TERMS[term]}.</dd></div>`)}</dl></details>`;
}
