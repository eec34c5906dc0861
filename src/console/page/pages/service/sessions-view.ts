import type { Sessions } from '../../../../api/wire/schema/session-schema.ts';
import { zonedText } from '../../../view/words/time-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

type OpenSession = Sessions['sessions'][number];

/** Open sessions of the console: those of this key, and of all keys for admins. */
export function SessionsView({ app }: { readonly app: Console }): Shown {
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
