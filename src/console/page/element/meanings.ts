import { html, type Shown } from './html.ts';

const TERMS = {
  grade:
    'how unusual a value is for its own series, from 0 to 1: most series reach 0.5 once in 1,000 observations. A ' +
    'warning from 0.5, an error from 0.8, critical from 0.9',
  severity: 'size of the disturbance: it has no upper bound, and stays high while the event continues',
  out: 'distance of the peak from the expected value',
  'outside the interval': 'distance of the peak from the expected interval, in widths of that interval',
  'target per week': 'false alarms per week that false_alarms of a detector accepts for each series or group',
  'actual per week':
    'events per week of each series or group in the history; orange if events that are not confirmed as true are ' +
    'more than twice the target',
  'expected interval': 'range of expected values, from the forecast and the errors of earlier forecasts',
} as const;

type Term = keyof typeof TERMS;

/** Meanings of words of a list or drawing; for keyboards and touch, which show no title. */
export function Meanings({ of }: { readonly of: readonly Term[] }): Shown {
  return html`<details class="meanings"><summary>What ${of.slice(0, -1).join(', ')} and ${of.at(-1)} mean</summary>
    <dl>${of.map((term) => html`<div><dt>${term}</dt><dd>${TERMS[term]}.</dd></div>`)}</dl></details>`;
}
