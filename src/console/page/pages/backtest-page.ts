import { useState } from 'preact/hooks';
import type { BacktestAnswer } from '../../../api/wire/schema/operations/backtest-schema.ts';
import { counted } from '../../view/words/value-words.ts';
import type { Props } from '../element/hooks.ts';
import { classes, Failure, html, type Shown, typedIn } from '../element/html.ts';
import { postJson } from '../source/service-calls.ts';

const MIB = 2 ** 20;
const BYTES_MAX = 30 * MIB;
/** Settings that can be given, with what counts without them. */
const FIELDS: readonly (readonly [string, string, string])[] = [
  ['freq', 'Step', 'seen in the file'],
  ['detection_size', 'detection_size', '24'],
  ['h', 'h', 'detection_size'],
  ['false_alarms', 'False alarms', '1/week'],
];
const WHOLE = new Set(['h', 'detection_size']);

/** Scores a file as the stream would, and shows it in the same pages. */
export function BacktestPage({ app }: Props<'app'>): Shown {
  const [settings, setSettings] = useState<Readonly<Record<string, string>>>({});
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [failures, setFailures] = useState<readonly string[]>([]);
  const [done, setDone] = useState<Extract<BacktestAnswer, { kind: 'report' }> | null>(null);
  const score = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > BYTES_MAX) {
      setFailures([`${file.name} has more than ${BYTES_MAX / MIB} MiB: npm start -- backtest takes larger files.`]);
      return;
    }
    setBusy(file.name);
    setDone(null);
    try {
      const given = Object.entries(settings).filter(([, text]) => text.trim() !== '');
      const valued = given.map(([name, text]) => [name, WHOLE.has(name) ? Number(text) : text.trim()] as const);
      const body = { name: file.name.slice(0, 200), csv: await file.text(), ...Object.fromEntries(valued) };
      const outcome = await postJson<BacktestAnswer>('/v1/backtest', body);
      setFailures(outcome.kind === 'problems' ? outcome.problems : []);
      if (outcome.kind === 'problems') return;
      if (outcome.notes.length === 0) app.showReport?.(outcome.report);
      else setDone(outcome);
    } catch (error) {
      setFailures([(error as Error).message]);
    } finally {
      setBusy(null);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void score(event.dataTransfer?.files[0]);
  };
  if (!app.mayOperate) {
    return html`<div class="page"><h1>Backtest</h1>
      <p class="aside">Scoring a file requires a key with the role operator.</p></div>`;
  }
  return html`<div class="page">
    <header class="page-head"><h1>Backtest</h1><p class="aside">Scores a CSV file as the stream would.</p>
      </header>
    <div class="panel what-if"><div class="fields">${FIELDS.map(
      ([
        name,
        label,
        usual,
      ]) => html`<label>${label}<input name=${name} placeholder=${usual} value=${settings[name] ?? ''}
        onInput=${(event: Event) => setSettings({ ...settings, [name]: typedIn(event) })} /></label>`,
    )}</div></div>
    <label class=${classes('drop', over && 'over')} onDrop=${drop} onDragLeave=${() => setOver(false)}
      onDragOver=${(event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      }}>
      <strong>${busy === null ? 'Drop a CSV file here, or choose one' : `Scoring ${busy} …`}</strong>
      <span class="aside">Columns series, timestamp and value, in any order. At most 200,000 observations.</span>
      <input type="file" accept=".csv,text/csv" class="sr" disabled=${busy !== null}
        onChange=${(event: Event) => score((event.target as HTMLInputElement).files?.[0])} />
    </label>
    ${failures.map((text) => html`<${Failure} text=${text} />`)}
    ${done !== null && html`<${ReadNotes} notes=${done.notes} onShow=${() => app.showReport?.(done.report)} />`}
  </div>`;
}

/** Remarks on how the file was read, to be read before its numbers. */
function ReadNotes({ notes, onShow }: { readonly notes: readonly string[]; readonly onShow: () => void }): Shown {
  return html`<section class="panel"><h2>${counted(notes.length, 'remark')} about the file</h2>
    <ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>
    <div class="buttons"><button type="button" class="primary" onClick=${onShow}>Show the backtest</button></div>
      </section>`;
}
