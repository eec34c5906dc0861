import { useState } from 'preact/hooks';
import type { DetectorsAnswer } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import { type Console, useAct } from '../../element/hooks.ts';
import { html, type Shown, typedIn } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { submitWhatIf } from './what-if-result.ts';

const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, number])[] = [
  ['the last week', 7 * DAY_MS],
  ['the last 2 weeks', 14 * DAY_MS],
  ['the last 4 weeks', 28 * DAY_MS],
];
/** Settings that can be tried, with what they look like. */
const FIELDS: readonly (readonly [string, string, string])[] = [
  ['false_alarms', 'False alarms', '1/week'],
  ['direction', 'Direction', 'both'],
  ['min_deviation', 'Minimal deviation', '5%'],
  ['h', 'h', '24'],
  ['step_size', 'step_size', '24'],
  ['detection_size', 'detection_size', '24'],
];
const WHOLE = new Set(['h', 'step_size', 'detection_size']);

interface WhatIfProps {
  readonly app: Console;
  readonly detector: DetectorsAnswer['detectors'][number];
  /** Series or groups that are tried first; empty: all. */
  readonly match: string;
}

/** Other settings of a detector: a job scores what is kept of its series by them. */
export function WhatIf({ app, detector, match: first }: WhatIfProps): Shown {
  const [match, setMatch] = useState(first);
  const [changes, setChanges] = useState<Readonly<Record<string, string>>>({});
  const [span, setSpan] = useState(SPANS[1][1]);
  const { act, failure, busy } = useAct();
  const given = Object.entries(changes).filter(([, text]) => text.trim() !== '');
  const submit = (event: Event) => {
    event.preventDefault();
    const after = Object.fromEntries(given.map(([name, text]) => [name, WHOLE.has(name) ? Number(text) : text.trim()]));
    const from = Math.round(app.source.nowMs() - span);
    const chosen = match.trim() === '' ? {} : { match: match.trim() };
    return act(() => submitWhatIf(detector.name, { ...chosen, from, after }));
  };
  return html`<section class="panel"><h2>Try other settings of ${detector.name}</h2>
    ${
      app.mayOperate
        ? html`<form class="what-if" onSubmit=${submit}>
          <div class="fields">
            <label>${detector.group === null ? 'Series' : 'Groups'}<input value=${match} placeholder="all"
              onInput=${(event: Event) => setMatch(typedIn(event))} /></label>
            <label>Over<select value=${span}
              onChange=${(event: Event) => setSpan(Number(typedIn(event)))}>
              ${SPANS.map(([name, ms]) => html`<option value=${ms}>${name}</option>`)}</select></label>
            ${FIELDS.map(
              ([name, label, example]) => html`<label>${label}<input name=${name} value=${changes[name] ?? ''}
                placeholder=${String(detector.settings[name] ?? example)}
                onInput=${(event: Event) => setChanges({ ...changes, [name]: typedIn(event) })} /></label>`,
            )}
          </div>
          <div class="buttons">
            <button type="submit" class="primary" disabled=${busy || given.length === 0}>Try it</button>
          </div>
        </form>`
        : html`<p class="aside">Trying other settings requires a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
  </section>`;
}
