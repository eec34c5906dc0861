import { COMPARED_WITH } from '../../../view/scores/compared.ts';
import type { TimeRange } from '../../../view/scores/time-range.ts';
import { momentOf, momentText, zoneOfTimes } from '../../../view/words/time-words.ts';
import type { ValueAxis } from '../../chart/score-chart.ts';
import { html, type Shown, typedIn } from '../../element/html.ts';

const AXES: Readonly<Record<ValueAxis, string>> = {
  fit: 'fitted to the values',
  zero: 'from zero',
  log: 'logarithmic',
};

export const isValueAxis = (name: string): name is ValueAxis => Object.hasOwn(AXES, name);

interface ChartChoicesProps {
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly compared: string;
  readonly onCompared: (name: string) => void;
  readonly axis: ValueAxis;
  readonly onAxis: (name: string) => void;
  readonly onCsv: () => void;
}

/** Exact times, an earlier range to compare with, the axis, and a file of the values. */
export function ChartChoices(props: ChartChoicesProps): Shown {
  const { range, onRange, compared, onCompared, axis, onAxis, onCsv } = props;
  const set = (end: keyof TimeRange) => (event: Event) => {
    const at = momentOf(typedIn(event));
    const next = { ...range, [end]: at };
    if (Number.isFinite(at) && next.from < next.to) onRange(next);
  };
  return html`<div class="toolbar choices">
    <label title=${zoneOfTimes()}>From<input type="datetime-local" step="1" value=${inputTime(range.from)}
      onChange=${set('from')} /></label>
    <label title=${zoneOfTimes()}>To<input type="datetime-local" step="1" value=${inputTime(range.to)}
      onChange=${set('to')} /></label>
    <label>Compare with<select value=${compared} onChange=${(event: Event) => onCompared(typedIn(event))}>
      <option value="">nothing</option>
      ${Object.entries(COMPARED_WITH).map(([key, { name }]) => html`<option value=${key}>${name}</option>`)}
    </select></label>
    <label>Axis<select value=${axis} onChange=${(event: Event) => onAxis(typedIn(event))}>
      ${Object.entries(AXES).map(([key, name]) => html`<option value=${key}>${name}</option>`)}</select></label>
    <button type="button" class="small text" onClick=${onCsv}>CSV</button>
  </div>`;
}

/** The shown clock as the input has it. */
const inputTime = (at: number) => momentText(at).replace(' ', 'T');
