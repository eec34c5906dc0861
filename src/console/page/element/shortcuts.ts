import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { routeTo } from '../../view/route.ts';
import { livePause } from '../source/live-pause.ts';
import { html, Icon, type Shown } from './html.ts';

/** A letter that follows `g` within this time names a page. */
const GO_MS = 1_000;

interface ShortcutsProps {
  readonly main: { readonly current: HTMLElement | null };
  readonly pages: readonly { readonly name: string; readonly title: string }[];
}

/** Keys of the page, and the list of them that `?` shows. Keys that are typed into a field are no shortcuts. */
export function Shortcuts({ main, pages }: ShortcutsProps): Shown {
  const [isListed, setListed] = useState(false);
  const shown = useRef(pages);
  shown.current = pages;
  // An effect would listen from the next frame on, and lose a key that is pressed as soon as the page shows.
  useLayoutEffect(() => {
    let went = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { target, key, timeStamp } = event;
      const isTyping = target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (key === '/') {
        event.preventDefault();
        main.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      } else if (key === '?') setListed(true);
      else if (key === 'g') went = timeStamp;
      else if (timeStamp - went < GO_MS) {
        const to = shown.current.find(({ name }) => name.startsWith(key))?.name;
        if (to !== undefined) location.hash = routeTo(to);
      } else if (key === 'p') livePause.toggle();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [main]);
  return html`<button type="button" class="plain" onClick=${() => setListed(true)} aria-keyshortcuts="?"><${Icon}
      name="keys" /><span>Keys (?)</span></button>
    ${isListed && html`<${KeyList} pages=${pages} onClose=${() => setListed(false)} />`}`;
}

function KeyList({ pages, onClose }: Pick<ShortcutsProps, 'pages'> & { readonly onClose: () => void }): Shown {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const letters = new Map(pages.toReversed().map(({ name, title }) => [name[0], title]));
  const keys = [
    ...[...letters].reverse().map(([letter, title]) => [`g ${letter}`, title]),
    ['/', 'Search or filter'],
    ['p', 'Pause or resume updates'],
    ['← → + −', 'Move and zoom the focused chart'],
    ['?', 'This list'],
  ];
  return html`<dialog ref=${dialog} aria-labelledby="keys-title" onClose=${onClose}>
    <h2 id="keys-title">Keys</h2>
    <dl class="facts one">${keys.map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
    <div class="buttons"><button type="button" class="primary" onClick=${onClose}>Close</button></div>
  </dialog>`;
}
