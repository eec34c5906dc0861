import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ReportData } from '../../sidecar/wire/schema/backtest-schema.ts';
import type { ConsoleSource } from '../view/console-source.ts';
import { REPORT_FILE, withReport } from '../view/report-file.ts';
import { reportSource } from '../view/report-source.ts';
import { routeTo, signInCodeOf } from '../view/route.ts';
import { html, type Shown } from './element/html.ts';
import { saveFile } from './element/save-file.ts';
import { LoginPage } from './pages/login-page.ts';
import { Shell } from './shell.ts';
import { keepReport, keptReport } from './source/kept-report.ts';
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
        .then(async (begun) => {
          if (begun !== null) setReport(await keptReport(begun.name));
          setSession(begun);
        })
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
    setReport(null);
    void keepReport(null);
    signOut().finally(() => setSession(null));
  }, []);
  if (!isKnown) return null;
  if (session === null) return html`<${LoginPage} onSession=${setSession} linkFailed=${linkFailed} />`;
  const show = (shown: ReportData | null) => {
    void keepReport(shown && { owner: session.name, report: shown });
    location.hash = routeTo(shown === null ? 'backtest' : 'events');
    setReport(shown);
  };
  if (report !== null) return html`<${ShownReport} report=${report} onLeave=${() => show(null)} />`;
  return html`<${Shell} source=${source} session=${session} onLeave=${leave} onReport=${show} />`;
}

interface ShownReportProps {
  readonly report: ReportData;
  readonly onLeave: () => void;
}

/** A backtest in the pages of the service. Its addresses are its own. */
function ShownReport({ report, onLeave }: ShownReportProps): Shown {
  const source = useMemo(() => reportSource(report), [report]);
  return html`<${Shell} source=${source} session=${null} title=${report.title} onLeave=${onLeave}
    onSave=${() => void saveReport(report)} />`;
}

/** Saves a backtest as one page, for those who have no access to the service. */
async function saveReport(report: ReportData): Promise<void> {
  const page = await (await fetch(REPORT_FILE, { credentials: 'same-origin' })).text();
  const name = report.title.replaceAll(/[^\w.-]+/g, '-');
  saveFile(`${name}.html`, new Blob([withReport(page, report)], { type: 'text/html' }));
}
