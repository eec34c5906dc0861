import { useState } from 'preact/hooks';
import type { DetectorsAnswer } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import { zonedText } from '../../../view/words/time-words.ts';
import type { Console } from '../../element/hooks.ts';
import { html, type Shown, typedIn } from '../../element/html.ts';
import { SaveDetectors } from './save-detectors.ts';

/** As GET and PUT /v1/detectors name the file among the versions. */
const FILE_VERSION = 0;

interface DetectorsEditorProps {
  readonly app: Console;
  readonly file: DetectorsAnswer;
  readonly onSaved: () => void;
}

/** The file itself, for what the form above does not offer, and the versions before. */
export function DetectorsEditor({ app, file, onSaved }: DetectorsEditorProps): Shown {
  const [edited, setEdited] = useState<string | null>(null);
  const rollBack = (version: number, comment: string) =>
    app.mayAdminister &&
    html`<${SaveDetectors} file=${file} next=${{ roll_back_to: version }} comment=${comment} title="Roll back to it …"
      onSaved=${() => {
        setEdited(null);
        onSaved();
      }} />`;
  const text = edited ?? file.text;
  return html`<details class="panel"><summary>The detectors file${file.versions.length > 0 ? ', and its versions' : ''}
    </summary>
    <textarea class="code" rows="18" spellcheck=${false} aria-label="Detectors file" readonly=${!app.mayAdminister}
      value=${text} onInput=${(event: Event) => setEdited(typedIn(event))} />
    ${
      app.mayAdminister &&
      html`<div class="buttons"><${SaveDetectors} file=${file} next=${{ text }} comment="edited in the console"
        onSaved=${() => {
          setEdited(null);
          onSaved();
        }} />
        ${
          edited !== null &&
          html`<button type="button" class="plain"
          onClick=${() => setEdited(null)}>Discard</button>`
        }
      </div>`
    }
    ${
      file.versions.length > 0 &&
      html`<table class="table versions"><thead><tr><th scope="col">Version</th><th scope="col">Saved</th>
        <th scope="col">By</th><th scope="col">Comment</th><th scope="col"><span class="sr">Action</span></th></tr>
          </thead>
      <tbody>${file.versions.map(
        ({ version, saved_at, saved_by, comment }) => html`<tr><th scope="row">${version}</th>
          <td>${zonedText(saved_at)}</td><td>${saved_by}</td><td>${comment ?? ''}</td>
          <td>${version !== file.version && rollBack(version, `back to version ${version}`)}</td></tr>`,
      )}
      <tr><th scope="row">file</th><td>–</td><td>–</td><td>the detectors file of this service</td>
        <td>${rollBack(FILE_VERSION, 'back to the detectors file')}</td></tr></tbody></table>`
    }
  </details>`;
}
