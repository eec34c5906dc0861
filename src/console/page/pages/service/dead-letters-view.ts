import { useState } from 'preact/hooks';
import type { DeadLettersAnswer, ServiceState } from '../../../../api/wire/schema/operations/service-schema.ts';
import { counted } from '../../../view/words/number-words.ts';
import { zonedText } from '../../../view/words/time-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

const LETTERS_MAX = 50;

interface DeadLettersProps {
  readonly app: Console;
  readonly reasons: ServiceState['dead_letters'];
  readonly onChanged: () => void;
}

/** Records that could not be scored, by reason, with the record itself; sent again once their cause is gone. */
export function DeadLetters({ app, reasons, onChanged }: DeadLettersProps): Shown {
  const [reason, setReason] = useState<string | null>(null);
  if (reasons.length === 0) {
    return html`<section class="panel"><h2>Dead letters</h2><p class="aside">None.</p>
      </section>`;
  }
  return html`<section class="panel"><h2>Dead letters</h2>
    <div class="buttons" role="group" aria-label="Reasons">${reasons.map(
      ({ reason: name, letters }) => html`<button type="button" class="small text" aria-pressed=${name === reason}
        onClick=${() => setReason(name === reason ? null : name)}>${name} ${letters}</button>`,
    )}</div>
    ${reason !== null && html`<${Letters} key=${reason} app=${app} reason=${reason} onChanged=${onChanged} />`}
  </section>`;
}

interface LettersProps {
  readonly app: Console;
  readonly reason: string;
  readonly onChanged: () => void;
}

function Letters({ app, reason, onChanged }: LettersProps): Shown {
  const load = () => getJson<DeadLettersAnswer>('/v1/dead-letters', { reason, limit: LETTERS_MAX });
  const { value, failure, reload } = useLoaded(reason, load);
  const { act, failure: refusal } = useAct(() => {
    reload();
    onChanged();
  });
  const redrive = (id: string) => act(() => postJson(`/v1/dead-letters/${encodeURIComponent(id)}/redrive`, {}));
  const letters = value?.dead_letters ?? [];
  return html`<div class="letters">
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    <p class="aside">The newest ${counted(letters.length, 'dead letter')}. "Send again" appends the record to its
      input topic.</p>
    <ul>${letters.map(
      ({ id, detail, atMs, series, input, value: record, truncated, redriven }) => html`<li key=${id}>
        <div><strong>${detail}</strong> <span class="aside">${zonedText(atMs)}, ${input.topic} ${input.partition} at
          ${' '}${input.offset}${series === null ? '' : `, series ${series}`}</span>
          <pre>${record ?? '(no value)'}</pre></div>
        ${
          redriven
            ? html`<span class="mark">sent again</span>`
            : app.mayOperate &&
              !truncated &&
              html`<button type="button" class="small text" onClick=${() => redrive(id)}>Send again</button>`
        }</li>`,
    )}</ul></div>`;
}
