import { useState } from 'preact/hooks';
import type { Keys, KeyUsageAnswer, NewKeyAnswer } from '../../../../api/wire/schema/admin-schema.ts';
import { countText } from '../../../view/words/number-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson, postJson } from '../../source/service-calls.ts';
import { SessionsView } from './sessions-view.ts';

/** Keys, for admins, and the sessions that keys have opened. */
export function KeysPage({ app }: { readonly app: Console }): Shown {
  return html`<div class="page"><header class="page-head"><h1>Keys</h1></header>
    ${app.mayAdminister && html`<${KeyList} />`}
    <${SessionsView} app=${app} /></div>`;
}

/** Keys are created, revoked and given credit, with their use of this month. */
function KeyList(): Shown {
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
  return html`<section class="panel" aria-label="Keys">
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    ${
      made !== null &&
      html`<p class="made" role="status">The new key, shown once: <code>${made}</code>
        <button type="button" class="small text" onClick=${() => setMade(null)}>I have it</button></p>`
    }
    <${Table} name="Keys" columns=${keyColumns(change)} rows=${value?.keys ?? []} keyOf=${({ id }: ListedKey) => id} />
    <form class="buttons new-key" onSubmit=${create}>
      <label class="sr" for="key-name">Name of the new key</label>
      <input id="key-name" name="name" required maxlength="100" placeholder="name of a new key" />
      <label class="sr" for="key-role">Its role</label>
      <select id="key-role" name="role"><option>viewer</option><option>operator</option><option>admin</option></select>
      <button type="submit">Create</button>
    </form>
  </section>`;
}

type ListedKey = Keys['keys'][number];
type ChangeKey = (id: string, what: string, body: object) => Promise<void>;

function keyColumns(onChange: ChangeKey): readonly TableColumn<ListedKey>[] {
  return [
    { title: 'Name', isHead: true, cell: ({ name }) => name },
    { title: 'Role', cell: ({ role }) => role },
    { title: 'Begins', cell: ({ begins }) => html`<code>${begins}…</code>` },
    { title: 'State', cell: ({ state }) => state },
    {
      title: 'Credits',
      isFigure: true,
      cell: ({ credits }) => (credits === null ? 'no limit' : countText(credits)),
    },
    { title: 'Tokens this month', isFigure: true, cell: ({ id }) => html`<${TokensOfMonth} id=${id} />` },
    {
      title: '',
      cell: (key) => key.state === 'valid' && html`<${KeyActions} row=${key} onChange=${onChange} />`,
    },
  ];
}

function TokensOfMonth({ id }: Pick<ListedKey, 'id'>): Shown {
  const load = () => getJson<KeyUsageAnswer>(`/v1/keys/${encodeURIComponent(id)}/usage`, { days: 1 });
  const tokens = useLoaded(`use of ${id}`, load).value?.month.tokens;
  return tokens === undefined ? '–' : countText(tokens);
}

function KeyActions({ row, onChange }: { readonly row: ListedKey; readonly onChange: ChangeKey }): Shown {
  const { id, name } = row;
  const [armed, setArmed] = useState(false);
  const credit = (event: Event) => {
    event.preventDefault();
    const tokens = Number(new FormData(event.target as HTMLFormElement).get('tokens'));
    void onChange(id, 'credit', { tokens });
    (event.target as HTMLFormElement).reset();
  };
  return html`<span class="buttons"><form class="buttons" onSubmit=${credit}>
      <input class="short" name="tokens" type="number" min="1" required placeholder="tokens"
        aria-label=${`Tokens for ${name}`} /><button class="small text" type="submit">Credit</button></form>
      <button type="button" class="small text danger" onBlur=${() => setArmed(false)}
        onClick=${() => (armed ? onChange(id, 'revoke', {}) : setArmed(true))}>
        ${armed ? 'Revoke for good' : 'Revoke'}</button></span>`;
}
