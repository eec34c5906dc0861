import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ReportData } from '../../sidecar/wire/schema/backtest-schema.ts';
import type { ConsoleSource } from '../view/console-source.ts';
import { reportSource } from '../view/report-source.ts';
import { routeTo } from '../view/route.ts';
import { html, type Shown } from './element/html.ts';
import { LoginPage } from './pages/login-page.ts';
import { Shell } from './shell.ts';
import { currentSession, type Session, signOut, whenSignedOut } from './source/service-calls.ts';

/** Shows the login unless the browser has a session. */
export function SignedInConsole({ source }: { readonly source: ConsoleSource }): Shown {
  const [session, setSession] = useState<Session | null>(null);
  const [report, setReport] = useState<ReportData | null>(null);
  const [isKnown, setKnown] = useState(false);
  useEffect(() => {
    whenSignedOut(() => setSession(null));
    currentSession()
      .then(setSession)
      // Without an answer the form is shown; it shows what is wrong.
      .catch(() => {})
      .finally(() => setKnown(true));
  }, []);
  const leave = useCallback(() => {
    signOut().finally(() => setSession(null));
  }, []);
  if (!isKnown) return null;
  if (session === null) return html`<${LoginPage} onSession=${setSession} />`;
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
