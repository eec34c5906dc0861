import { useEffect, useRef, useState } from 'preact/hooks';
import { HOUR_MS, MUTE_TIMES, type MuteScope } from '../../../view/words/mute-words.ts';
import { html, type Shown, typedIn } from '../../element/html.ts';

interface MuteDialogProps {
  readonly what?: string;
  readonly onClose: () => void;
  readonly scopes?: readonly MuteScope[];
  readonly onMute: (ms: number, reason: string, scope: MuteScope | undefined) => void;
}

/** For how long, and why, for later readers. */
export function MuteDialog({ what = 'event', scopes = [], onClose, onMute }: MuteDialogProps): Shown {
  const [ms, setMs] = useState(HOUR_MS);
  const [scope, setScope] = useState(0);
  const [reason, setReason] = useState('');
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const send = (event: Event) => {
    event.preventDefault();
    onMute(ms, reason.trim(), scopes[scope]);
    onClose();
  };
  return html`<dialog ref=${dialog} aria-labelledby="mute-title" onClose=${onClose}>
    <form onSubmit=${send}>
      <h2 id="mute-title">Mute ${scopes.length > 1 ? 'notifications' : `this ${what}`}</h2>
      ${
        scopes.length > 1 &&
        html`<label for="mute-what">Of</label><select id="mute-what" value=${scope}
          onChange=${(event: Event) => setScope(Number(typedIn(event)))}>
          ${scopes.map(({ name }, i) => html`<option value=${i}>${name}</option>`)}</select>`
      }
      <label for="mute-for">For</label>
      <select id="mute-for" value=${ms}
        onChange=${(event: Event) => setMs(Number(typedIn(event)))}>
        ${MUTE_TIMES.map(([text, length]) => html`<option value=${length}>${text}</option>`)}
      </select>
      <label for="mute-why">Because</label>
      <input id="mute-why" required maxlength="500" value=${reason} placeholder="planned maintenance"
        onInput=${(event: Event) => setReason(typedIn(event))} />
      <div class="buttons"><button type="button" class="plain" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${reason.trim() === ''}>Mute</button></div>
    </form>
  </dialog>`;
}
