import { useState } from 'preact/hooks';
import type { MuteAnswer, MutesAnswer } from '../../../api/wire/schema/operations/mute-schema.ts';
import type { ListedNames } from '../../../records/series/listed-names.ts';
import { routeTo } from '../../view/route.ts';
import { HOUR_MS, MUTE_TIMES } from '../../view/words/mute-words.ts';
import { counted, zonedText } from '../../view/words/value-words.ts';
import { type Console, type Props, useAct, useLoaded } from '../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown, typedIn } from '../element/html.ts';
import { Name, SharedName, useNames } from '../element/series-name.ts';
import { Table, type TableColumn } from '../element/table.ts';
import { getJson, postJson } from '../source/service-calls.ts';

const EVERY_MS = 10_000;

/** Mutes of series and detectors, active or ended. */
export function MutesPage({ app, route }: Props<'app' | 'route'>): Shown {
  const ended = route.query.ended === 'true';
  const load = () => getJson<MutesAnswer>('/v1/mutes', ended ? { ended } : {});
  const { value, failure, reload } = useLoaded(`mutes ${ended}`, load, EVERY_MS);
  const { act, failure: refusal } = useAct(async () => {
    reload();
    await app.openEvents.refresh();
  });
  const names = useNames((value?.mutes ?? []).flatMap(({ match }) => match ?? []));
  const end = ({ id }: MuteAnswer) => act(() => postJson(`/v1/mutes/${encodeURIComponent(id)}`, {}, 'DELETE'));
  return html`<div class="page">
    <header class="page-head"><h1>Mutes</h1>
      <p class="aside">${value !== null && `${counted(value.mutes.length, 'mute')} ${ended ? 'ended' : 'active'}`}
</p>
      <a href=${routeTo('mutes', null, { ended: ended ? '' : 'true' })}>${ended ? 'Active mutes' : 'Ended mutes'}</a>
    </header>
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    ${value === null && failure === null && html`<${Loading} what="mutes" />`}
    ${
      value?.mutes.length === 0 &&
      html`<${Empty} title=${ended ? 'No mute has ended' : 'Nothing is muted'}>
        Events of muted series are kept and shown; alerts about them are held until the mute ends.<//>`
    }
    ${
      (value?.mutes.length ?? 0) > 0 &&
      html`<${SharedName} names=${names} />
      <${Table} name="Mutes" columns=${muteColumns(app, names, end)} rows=${value?.mutes ?? []}
      keyOf=${({ id }: MuteAnswer) => id} />`
    }
    ${
      app.mayOperate
        ? html`<${NewMuteForm} onMute=${(mute: object) => act(() => postJson('/v1/mutes', mute))} />`
        : html`<p class="aside">Read-only access. Muting requires a key with the role operator.</p>`
    }
  </div>`;
}

function muteColumns(
  app: Console,
  names: ListedNames,
  onEnd: (mute: MuteAnswer) => void,
): readonly TableColumn<MuteAnswer>[] {
  return [
    {
      title: 'Series',
      isHead: true,
      cell: ({ match }) =>
        match === null
          ? 'all'
          : html`<a href=${routeTo('events', null, { series: match })}><${Name} id=${match} names=${names} /></a>`,
    },
    { title: 'Detector', cell: ({ detector }) => detector ?? 'all' },
    {
      title: 'Until',
      cell: ({ until, ended }) =>
        html`<time>${zonedText(ended?.at ?? until)}</time>${ended !== null && `, ended by ${ended.by}`}`,
    },
    { title: 'Because', cell: ({ reason }) => reason },
    { title: 'By', cell: ({ by, at }) => html`<span title=${zonedText(at)}>${by}</span>` },
    {
      title: '',
      cell: (mute) =>
        app.mayOperate &&
        mute.ended === null &&
        mute.until > Date.now() &&
        html`<button type="button" class="small text" aria-label=${`End the mute of ${mute.match ?? 'all'}`}
          onClick=${() => onEnd(mute)}>End</button>`,
    },
  ];
}

/** A text of the form; undefined if nothing was typed. */
const textOf = (form: FormData, name: string) => String(form.get(name) ?? '').trim() || undefined;

function NewMuteForm({ onMute }: { readonly onMute: (mute: object) => void }): Shown {
  const [ms, setMs] = useState(HOUR_MS);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const chosen = { match: textOf(form, 'match'), detector: textOf(form, 'detector') };
    onMute({ ...chosen, until: Date.now() + ms, reason: textOf(form, 'reason') });
  };
  const choose = (event: Event) => setMs(Number(typedIn(event)));
  return html`<form class="panel new-mute" onSubmit=${send}><h2>Mute series or a detector</h2>
    <label>Series<input name="match" autocomplete="off" placeholder='web-1/* or {host="web-1"}' /></label>
    <label>Detector<input name="detector" autocomplete="off" placeholder="all" /></label>
    <label>For<select value=${ms} onChange=${choose}>
      ${MUTE_TIMES.map(([text, length]) => html`<option value=${length}>${text}</option>`)}</select></label>
    <label>Because<input name="reason" required maxlength="500" placeholder="planned maintenance" /></label>
    <button type="submit" class="primary">Mute</button>
  </form>`;
}
