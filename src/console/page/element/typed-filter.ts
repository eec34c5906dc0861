import { useTyped } from './hooks.ts';
import { html, type Shown, typedIn } from './html.ts';

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
