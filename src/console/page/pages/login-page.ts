import { useEffect, useRef, useState } from 'preact/hooks';
import type { SourceFailure } from '../../view/console-source.ts';
import { html, type Shown, typedIn, Wave } from '../element/html.ts';
import { type Session, signIn, signInElsewhere } from '../source/service-calls.ts';

interface LoginPageProps {
  readonly onSession: (session: Session) => void;
  /** Host where people sign in; null: with keys alone. */
  readonly provider: string | null;
  /** Why an earlier attempt failed; null without one. */
  readonly refusal: string | null;
}

/** The key is sent once; what stays in the browser is a session that its scripts cannot read. */
export function LoginPage({ onSession, provider, refusal }: LoginPageProps): Shown {
  const [key, setKey] = useState('');
  const [wrongKey, setFailure] = useState<string | null>(null);
  const failure = wrongKey ?? refusal;
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
      ${
        provider !== null &&
        html`<button class="primary" type="button" onClick=${signInElsewhere}>Sign in at ${provider}</button>`
      }
      <label for="key">API key</label>
      <input id="key" ref=${input} type="password" autocomplete="current-password" spellcheck=${false} required
        value=${key} aria-describedby="key-hint" aria-invalid=${failure !== null}
        onInput=${(event: Event) => setKey(typedIn(event))} />
      ${failure !== null && html`<p class="failure" role="alert">${failure}</p>`}
      <button class=${provider === null && 'primary'} type="submit"
        disabled=${busy || key.trim() === ''}>Sign in</button>
      <p id="key-hint" class="hint">
        <code>npm start</code> prints a sign-in link and, at the first start, a key. To create a key:
        <code>npm start -- keys create</code>.
      </p>
    </form>
  </main>`;
}
