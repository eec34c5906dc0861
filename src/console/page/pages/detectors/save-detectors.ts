import { useEffect, useRef, useState } from 'preact/hooks';
import type { DetectorsAnswer, DetectorsSaved } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import { useAct } from '../../element/hooks.ts';
import { Failure, html, type Shown } from '../../element/html.ts';
import { postJson } from '../../source/service-calls.ts';

interface SaveDetectorsProps {
  readonly file: DetectorsAnswer;
  /** The whole file as it shall be, or the version whose text it shall have again. */
  readonly next: { readonly text: string } | { readonly roll_back_to: number };
  readonly title?: string;
  readonly comment: string;
  readonly onSaved: () => void;
}

const put = (body: object) => postJson<DetectorsSaved>('/v1/detectors', body, 'PUT');

/** Checks the file, shows what would change, and publishes it once a person has agreed. */
export function SaveDetectors(props: SaveDetectorsProps): Shown {
  const { file, next, comment, onSaved, title = 'Check and save …' } = props;
  const [checked, setChecked] = useState<DetectorsSaved | null>(null);
  const [saved, setSaved] = useState<number | null>(null);
  const { act, failure } = useAct();
  const body = { ...next, base_version: file.version };
  const check = () => act(async () => setChecked(await put({ ...body, dry_run: true })));
  const save = () =>
    act(async () => {
      const { version } = await put({ ...body, comment });
      setChecked(null);
      setSaved(version);
      onSaved();
    });
  return html`<button type="button" class=${'text' in next ? '' : 'small text'}
      disabled=${!file.can_save} onClick=${check}
      title=${file.can_save ? '' : 'Workers do not follow published detectors: edit the file'}>${title}</button>
    ${saved !== null && checked === null && html`<span class="aside" role="status">Saved as version ${saved}.</span>`}
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${
      checked !== null &&
      html`<${ChangesDialog} checked=${checked} onSave=${save}
      onClose=${() => setChecked(null)} />`
    }`;
}

interface ChangesDialogProps {
  readonly checked: DetectorsSaved;
  readonly onSave: () => void;
  readonly onClose: () => void;
}

function ChangesDialog({ checked, onSave, onClose }: ChangesDialogProps): Shown {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { changes, warnings } = checked;
  const startOver = changes.some(({ starts_over }) => starts_over);
  return html`<dialog ref=${dialog} class="wide-dialog" aria-labelledby="changes-title" onClose=${onClose}>
    <h2 id="changes-title">${changes.length === 0 ? 'Nothing changes' : 'This changes'}</h2>
    ${
      changes.length > 0 &&
      html`<table class="table"><thead><tr><th scope="col">Detector</th><th scope="col">Setting</th>
        <th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <tbody>${changes.map(
        ({ detector, field, before, after }) => html`<tr><th scope="row">${detector}</th><td>${field}</td>
          <td>${before ?? '–'}</td><td><strong>${after ?? '–'}</strong></td></tr>`,
      )}</tbody></table>`
    }
    ${startOver && html`<p class="aside">Some series are calibrated again from their kept values.</p>`}
    ${warnings.map((text) => html`<p class="failure">${text}</p>`)}
    <div class="buttons"><button type="button" class="plain" onClick=${onClose}>Cancel</button>
      <button type="button" class="primary" disabled=${changes.length === 0}
        onClick=${onSave}>Save for all workers</button></div>
  </dialog>`;
}
