import { useState } from 'preact/hooks';
import type { IncidentDetailAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import { isIncidentMuted } from '../../../view/words/incident-words.ts';
import { zonedText } from '../../../view/words/time-words.ts';
import { type Console, useAct } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Failure } from '../../element/page-states.ts';
import { MuteDialog } from '../events/mute-dialog.ts';

interface IncidentActionsProps {
  readonly app: Console;
  readonly incident: IncidentDetailAnswer;
  readonly nowMs: number;
  readonly onChanged: () => void;
}

/** Acknowledges and mutes an incident with all of its events. */
export function IncidentActions({ app, incident, nowMs, onChanged }: IncidentActionsProps): Shown {
  const [muting, setMuting] = useState(false);
  const { incidentId: id, acknowledged } = incident;
  const muted = isIncidentMuted(incident, nowMs) ? incident.muted : null;
  const { act, failure } = useAct(async () => {
    onChanged();
    await app.openEvents.refresh();
  });
  const notes = [
    acknowledged === null ? null : `Acknowledged by ${acknowledged.by}, with its events.`,
    muted === null
      ? null
      : `Muted until ${zonedText(muted.until)}, with its events${muted.reason && `: ${muted.reason}`}.`,
  ].filter((text) => text !== null);
  return html`<footer>
    ${notes.length > 0 && html`<p class="aside">${notes.join(' ')}</p>`}
    ${
      app.mayOperate
        ? html`<div class="buttons">
          <button type="button" class="small text" aria-pressed=${acknowledged !== null}
            onClick=${() => act(() => app.source.acknowledgeIncident(id, acknowledged === null))}>
            <${Icon} name="check" />${acknowledged === null ? 'Acknowledge all of it' : 'Acknowledged'}</button>
          <button type="button" class="small text"
            onClick=${() => (muted !== null ? act(() => app.source.muteIncident(id, null, '')) : setMuting(true))}>
            <${Icon} name=${muted !== null ? 'bell' : 'mute'} />${muted !== null ? 'Unmute' : 'Mute all of it'}</button>
        </div>`
        : html`<p class="aside">Read-only access. Acknowledging, muting and feedback require the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${
      muting &&
      html`<${MuteDialog} what="incident" onClose=${() => setMuting(false)}
      onMute=${(ms: number, reason: string) => act(() => app.source.muteIncident(id, Date.now() + ms, reason))} />`
    }
  </footer>`;
}
