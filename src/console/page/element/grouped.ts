import { groupChoices, type LabelGroup, type Labelled } from '../../view/label-groups.ts';
import { counted } from '../../view/words/value-words.ts';
import { useTyped } from './hooks.ts';
import { html, type Shown, typedIn } from './html.ts';

interface GroupChoiceProps {
  readonly all: readonly Labelled[];
  readonly by: string;
  readonly onBy: (by: string) => void;
}

export function GroupChoice({ all, by, onBy }: GroupChoiceProps): Shown {
  return html`<label class="sr" for="f-by">Group by</label>
    <select id="f-by" value=${by} onChange=${(event: Event) => onBy(typedIn(event))}>
      <option value="">not grouped</option>
      ${groupChoices(all, by).map(([key, name]) => html`<option value=${key}>by ${name}</option>`)}</select>`;
}

/** The name of a group, and how many it has. */
export function GroupName({ group }: { readonly group: LabelGroup<unknown> }): Shown {
  return html`<span class="group-name">${group.name}</span>
    <small>${counted(group.items.length, 'item')}</small>`;
}

interface TypedFilterProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onTyped: (value: string) => void;
}

/** The typed text stays while the list below is read again. */
export function TypedFilter({ name, label, hint = name, value, onTyped }: TypedFilterProps): Shown {
  const [typed, setTyped] = useTyped(value, onTyped);
  return html`<label class="sr" for=${`f-${name}`}>${label}</label>
    <input id=${`f-${name}`} type="search" placeholder=${hint} value=${typed} autocomplete="off"
      onInput=${(event: Event) => setTyped(typedIn(event))} />`;
}
