import { useEffect, useRef, useState } from 'preact/hooks';
import { html, type Shown } from '../../element/html.ts';

const HOUR_MS = 3_600_000;
const TIMES: readonly (readonly [string, number])[] = [
  ['1 hour', HOUR_MS],
  ['4 hours', 4 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 7 * 24 * HOUR_MS],
];

interface MuteDialogProps {
  readonly what?: string;
  readonly onClose: () => void;
  readonly onMute: (ms: number, reason: string) => void;
}

/** For how long, and why: whoever wonders later reads it. */
export function MuteDialog({ what = 'event', onClose, onMute }: MuteDialogProps): Shown {
  const [ms, setMs] = useState(HOUR_MS);
  const [reason, setReason] = useState('');
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const send = (event: Event) => {
    event.preventDefault();
    onMute(ms, reason.trim());
    onClose();
  };
  return html`<dialog ref=${dialog} aria-labelledby="mute-title" onClose=${onClose}>
    <form onSubmit=${send}>
      <h2 id="mute-title">Mute this ${what}</h2>
      <label for="mute-for">For</label>
      <select id="mute-for" value=${ms}
        onChange=${(event: Event) => setMs(Number((event.target as HTMLSelectElement).value))}>
        ${TIMES.map(([text, length]) => html`<option value=${length}>${text}</option>`)}
      </select>
      <label for="mute-why">Because</label>
      <input id="mute-why" required maxlength="500" value=${reason} placeholder="planned maintenance"
        onInput=${(event: Event) => setReason((event.target as HTMLInputElement).value)} />
      <div class="buttons"><button type="button" class="plain" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${reason.trim() === ''}>Mute</button></div>
    </form>
  </dialog>`;
}
