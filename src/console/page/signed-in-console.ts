import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ReportData } from '../../sidecar/wire/schema/backtest-schema.ts';
import type { ConsoleSource } from '../view/console-source.ts';
import { reportSource } from '../view/report-source.ts';
import { routeTo, signInCodeOf } from '../view/route.ts';
import { html, type Shown } from './element/html.ts';
import { LoginPage } from './pages/login-page.ts';
import { Shell } from './shell.ts';
import { currentSession, type Session, signIn, signOut, whenSignedOut } from './source/service-calls.ts';

/** The session of a code that signs in once, or of the browser. */
async function beginSession(code: string | null): Promise<Session | null> {
  const session = await currentSession();
  return session === null && code !== null ? signIn(code) : session;
}

/** Shows the login unless the browser has a session, or a link that begins one. */
export function SignedInConsole({ source }: { readonly source: ConsoleSource }): Shown {
  const [session, setSession] = useState<Session | null>(null);
  const [report, setReport] = useState<ReportData | null>(null);
  const [isKnown, setKnown] = useState(false);
  const [linkFailed, setLinkFailed] = useState(false);
  useEffect(() => {
    whenSignedOut(() => setSession(null));
    const begin = () => {
      const code = signInCodeOf(location.hash);
      // The code is in no history of the browser.
      if (code !== null) history.replaceState(null, '', location.pathname);
      beginSession(code)
        .then(setSession)
        // Without an answer the form is shown; it shows what is wrong.
        .catch(() => setLinkFailed(code !== null))
        .finally(() => setKnown(true));
    };
    const follow = () => {
      if (signInCodeOf(location.hash) !== null) begin();
    };
    begin();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const leave = useCallback(() => {
    signOut().finally(() => setSession(null));
  }, []);
  if (!isKnown) return null;
  if (session === null) return html`<${LoginPage} onSession=${setSession} linkFailed=${linkFailed} />`;
  if (report !== null) return html`<${ShownReport} report=${report} onLeave=${() => setReport(null)} />`;
  return html`<${Shell} source=${source} session=${session} onLeave=${leave} onReport=${setReport} />`;
}

interface ShownReportProps {
  readonly report: ReportData;
  readonly onLeave: () => void;
}

/** A backtest in the pages of the service. Its addresses are its own: both ways lead to the first page. */
function ShownReport({ report, onLeave }: ShownReportProps): Shown {
  const source = useMemo(() => reportSource(report), [report]);
  useEffect(() => {
    location.hash = routeTo('now');
    return () => {
      location.hash = routeTo('backtest');
    };
  }, []);
  return html`<${Shell} source=${source} session=${null} title=${report.title} onLeave=${onLeave} />`;
}
