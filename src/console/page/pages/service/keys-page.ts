import { useState } from 'preact/hooks';
import type { Keys, KeyUsageAnswer, NewKeyAnswer } from '../../../../api/wire/schema/admin-schema.ts';
import type { Sessions } from '../../../../api/wire/schema/session-schema.ts';
import { countText, zonedText } from '../../../view/words/value-words.ts';
import { type Props, useAct, useLoaded } from '../../element/hooks.ts';
import { Failure, html, type Shown } from '../../element/html.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

/** Keys, for admins, and the sessions that keys have opened. */
export function KeysPage({ app }: Props<'app'>): Shown {
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

type OpenSession = Sessions['sessions'][number];

/** Open sessions of the console: those of this key, and of all keys for admins. */
function SessionsView({ app }: Props<'app'>): Shown {
  const of = app.mayAdminister ? 'all' : 'own';
  const { value, failure, reload } = useLoaded('sessions', () => getJson<Sessions>('/v1/sessions', { of }));
  const { act, failure: refusal } = useAct(reload);
  const end = (path: string) => act(() => postJson(path, {}, 'DELETE'));
  const columns: readonly TableColumn<OpenSession>[] = [
    {
      title: 'Key',
      isHead: true,
      cell: ({ key_name, current }) => html`${key_name}${current && html` <span class="aside">this one</span>`}`,
    },
    { title: 'Since', cell: ({ begun_at }) => zonedText(Date.parse(begun_at)) },
    { title: 'Used', cell: ({ used_at }) => zonedText(Date.parse(used_at)) },
    { title: 'Ends', cell: ({ ends_at }) => zonedText(Date.parse(ends_at)) },
    {
      title: '',
      cell: ({ id, key_name }) => html`<button type="button" class="small text danger"
        aria-label=${`End the session of ${key_name}`} onClick=${() => end(`/v1/sessions/${id}`)}>End</button>`,
    },
  ];
  return html`<section class="panel sessions"><h2>Sessions</h2>
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    <${Table} name="Sessions" columns=${columns} rows=${value?.sessions ?? []} keyOf=${({ id }: OpenSession) => id} />
    <div class="buttons">
      <button type="button" class="small text danger" onClick=${() => end('/v1/sessions?of=own')}>
        End all of this key</button>
      ${
        app.mayAdminister &&
        html`<button type="button" class="small text danger" onClick=${() => end('/v1/sessions?of=all')}>
        End all of every key</button>`
      }
    </div>
  </section>`;
}
