import { useEffect, useRef, useState } from 'preact/hooks';
import type { SourceFailure } from '../../view/console-source.ts';
import { html, type Shown } from '../element/html.ts';
import { Wave } from '../element/wave.ts';
import { type Session, signIn } from '../source/service-calls.ts';

interface LoginPageProps {
  readonly onSession: (session: Session) => void;
  /** Whether a link that signs in once did not. */
  readonly linkFailed: boolean;
}

/** The key is sent once; what stays in the browser is a session that its scripts cannot read. */
export function LoginPage({ onSession, linkFailed }: LoginPageProps): Shown {
  const [key, setKey] = useState('');
  const [wrongKey, setFailure] = useState<string | null>(null);
  const failure = wrongKey ?? (linkFailed ? 'This link was used, or has expired. A key signs in as well.' : null);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      onSession(await signIn(key.trim()));
    } catch (error) {
      const { status, message } = error as SourceFailure;
      setFailure(status === 401 ? 'This key is unknown, revoked or expired.' : message);
      setBusy(false);
      input.current?.select();
    }
  };
  return html`<main class="login">
    <form class="login-card" onSubmit=${send}>
      <h1 class="brand"><${Wave} /> Tidewatch</h1>
      <label for="key">API key</label>
      <input id="key" ref=${input} type="password" autocomplete="current-password" spellcheck=${false} required
        value=${key} aria-describedby="key-hint" aria-invalid=${failure !== null}
        onInput=${(event: Event) => setKey((event.target as HTMLInputElement).value)} />
      ${failure !== null && html`<p class="failure" role="alert">${failure}</p>`}
      <button class="primary" type="submit" disabled=${busy || key.trim() === ''}>Sign in</button>
      <p id="key-hint" class="hint">
        <code>npm start</code> prints a link that signs in once, and the first key once. If you have no key any more:
        <code>npm start -- keys create</code>.
      </p>
    </form>
  </main>`;
}
