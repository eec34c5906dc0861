import { useState } from 'preact/hooks';
import type { DetectorsAnswer } from '../../../../sidecar/wire/schema/detectors-schema.ts';
import { momentText } from '../../../view/number-words.ts';
import type { Console } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { postJson } from '../../source/service-calls.ts';
import { SaveDetectors } from './save-detectors.ts';

interface DetectorsEditorProps {
  readonly app: Console;
  readonly file: DetectorsAnswer;
  readonly onSaved: () => void;
}

/** The file itself, for what the form above does not offer, and the versions before. */
export function DetectorsEditor({ app, file, onSaved }: DetectorsEditorProps): Shown {
  const [edited, setEdited] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const rollBack = async (version: number) => {
    try {
      const comment = `back to version ${version}`;
      await postJson('/v1/detectors', { roll_back_to: version, base_version: file.version, comment }, 'PUT');
      setFailure(null);
      setEdited(null);
      onSaved();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const text = edited ?? file.text;
  return html`<details class="panel"><summary>The detectors file${file.versions.length > 0 ? ', and its versions' : ''}
    </summary>
    <textarea class="code" rows="18" spellcheck=${false} aria-label="Detectors file" readonly=${!app.mayAdminister}
      value=${text} onInput=${(event: Event) => setEdited((event.target as HTMLTextAreaElement).value)} />
    ${
      app.mayAdminister &&
      html`<div class="buttons"><${SaveDetectors} file=${file} text=${text} comment="edited in the console"
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
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${
      file.versions.length > 0 &&
      html`<table class="table versions"><thead><tr><th scope="col">Version</th><th scope="col">Saved</th>
        <th scope="col">By</th><th scope="col">Comment</th><th scope="col"><span class="sr">Action</span></th></tr>
          </thead>
      <tbody>${file.versions.map(
        ({ version, saved_at, saved_by, comment }) => html`<tr><th scope="row">${version}</th>
          <td>${momentText(saved_at)}</td><td>${saved_by}</td><td>${comment ?? ''}</td>
          <td>${
            app.mayAdminister &&
            version !== file.version &&
            html`<button type="button" class="small text" onClick=${() => rollBack(version)}>Roll back to it</button>`
          }</td></tr>`,
      )}</tbody></table>`
    }
  </details>`;
}
