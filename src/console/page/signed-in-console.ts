import { useCallback, useEffect, useState } from 'preact/hooks';
import type { ConsoleSource } from '../view/console-source.ts';
import { html, type Shown } from './html.ts';
import { LoginPage } from './login-page.ts';
import { currentSession, type Session, signOut, whenSignedOut } from './service-calls.ts';
import { Shell } from './shell.ts';

/** Asks for a key unless the browser has a session. */
export function SignedInConsole({ source }: { readonly source: ConsoleSource }): Shown {
  const [session, setSession] = useState<Session | null>(null);
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    whenSignedOut(() => setSession(null));
    currentSession()
      .then(setSession)
      // Without an answer the form is shown; it says what is wrong.
      .catch(() => {})
      .finally(() => setAsked(true));
  }, []);
  const leave = useCallback(() => {
    signOut().finally(() => setSession(null));
  }, []);
  if (!asked) return null;
  if (session === null) return html`<${LoginPage} onSession=${setSession} />`;
  return html`<${Shell} source=${source} session=${session} onLeave=${leave} />`;
}
