import type { Sessions } from '../../../../sidecar/wire/schema/session-schema.ts';
import { zonedText } from '../../../view/time-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

/** Open sessions of the console: those of this key, and of all keys for admins. */
export function SessionsView({ app }: { readonly app: Console }): Shown {
  const of = app.mayAdminister ? 'all' : 'own';
  const { value, failure, reload } = useLoaded('sessions', () => getJson<Sessions>('/v1/sessions', { of }));
  const { act, failure: refusal } = useAct(reload);
  const end = (path: string) => act(() => postJson(path, {}, 'DELETE'));
  return html`<section class="panel sessions"><h2>Sessions</h2>
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    <div class="table-frame" tabindex="0" role="region" aria-label="Sessions"><table class="table">
      <thead><tr><th scope="col">Key</th><th scope="col">Since</th><th scope="col">Used</th><th scope="col">Ends</th>
        <th scope="col"><span class="sr">Actions</span></th></tr></thead>
      <tbody>${value?.sessions.map(
        ({ id, key_name, begun_at, used_at, ends_at, current }) => html`<tr key=${id}>
          <th scope="row">${key_name}${current && html` <span class="aside">this one</span>`}</th>
          ${[begun_at, used_at, ends_at].map((time) => html`<td>${zonedText(Date.parse(time))}</td>`)}
          <td><button type="button" class="small text danger" aria-label=${`End the session of ${key_name}`}
            onClick=${() => end(`/v1/sessions/${id}`)}>End</button></td></tr>`,
      )}</tbody>
    </table></div>
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
