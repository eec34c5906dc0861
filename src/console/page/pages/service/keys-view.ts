import { useState } from 'preact/hooks';
import type { Keys, KeyUsageAnswer, NewKeyAnswer } from '../../../../sidecar/wire/schema/admin-schema.ts';
import { countText } from '../../../view/number-words.ts';
import { useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

/** Keys for admins: created, revoked, given credit, with their use of this month. */
export function KeysView(): Shown {
  const { value, failure, reload } = useLoaded('keys', () => getJson<Keys>('/v1/keys'));
  const [made, setMade] = useState<string | null>(null);
  const { act, failure: refusal } = useAct(reload);
  const create = (event: Event) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const { name, role } = Object.fromEntries(new FormData(form));
    void act(async () => {
      setMade((await postJson<NewKeyAnswer>('/v1/keys', { name, role })).key);
      form.reset();
    });
  };
  const change = (id: string, what: string, body: object) =>
    act(() => postJson(`/v1/keys/${encodeURIComponent(id)}/${what}`, body));
  return html`<section class="panel"><h2>Keys</h2>
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    ${
      made !== null &&
      html`<p class="made" role="status">The new key, shown once: <code>${made}</code>
        <button type="button" class="small text" onClick=${() => setMade(null)}>I have it</button></p>`
    }
    <div class="table-frame" tabindex="0" role="region" aria-label="Keys"><table class="table">
      <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Begins</th><th scope="col">State</th>
        <th scope="col" class="figure">Credits</th><th scope="col" class="figure">Tokens this month</th>
        <th scope="col"><span class="sr">Actions</span></th></tr></thead>
      <tbody>${value?.keys.map((key) => html`<${KeyRow} key=${key.id} row=${key} onChange=${change} />`)}</tbody>
    </table></div>
    <form class="buttons new-key" onSubmit=${create}>
      <label class="sr" for="key-name">Name of the new key</label>
      <input id="key-name" name="name" required maxlength="100" placeholder="name of a new key" />
      <label class="sr" for="key-role">Its role</label>
      <select id="key-role" name="role"><option>viewer</option><option>operator</option><option>admin</option></select>
      <button type="submit">Create</button>
    </form>
  </section>`;
}

interface KeyRowProps {
  readonly row: Keys['keys'][number];
  readonly onChange: (id: string, what: string, body: object) => Promise<void>;
}

function KeyRow({ row, onChange }: KeyRowProps): Shown {
  const { id, name, role, begins, state, credits } = row;
  const usage = useLoaded(`use of ${id}`, () =>
    getJson<KeyUsageAnswer>(`/v1/keys/${encodeURIComponent(id)}/usage`, { days: 1 }),
  );
  const [armed, setArmed] = useState(false);
  const credit = (event: Event) => {
    event.preventDefault();
    const tokens = Number(new FormData(event.target as HTMLFormElement).get('tokens'));
    void onChange(id, 'credit', { tokens });
    (event.target as HTMLFormElement).reset();
  };
  const tokens = usage.value?.month.tokens;
  return html`<tr><th scope="row">${name}</th><td>${role}</td><td><code>${begins}…</code></td><td>${state}</td>
    <td class="figure">${credits === null ? 'no limit' : countText(credits)}</td>
    <td class="figure">${tokens === undefined ? '–' : countText(tokens)}</td>
    <td>${
      state === 'valid' &&
      html`<span class="buttons"><form class="buttons" onSubmit=${credit}>
        <input class="short" name="tokens" type="number" min="1" required placeholder="tokens"
          aria-label=${`Tokens for ${name}`} /><button class="small text" type="submit">Credit</button></form>
        <button type="button" class="small text danger" onBlur=${() => setArmed(false)}
          onClick=${() => (armed ? onChange(id, 'revoke', {}) : setArmed(true))}>
          ${armed ? 'Revoke for good' : 'Revoke'}</button></span>`
    }</td></tr>`;
}
