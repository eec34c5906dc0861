import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ReportData } from '../../api/wire/schema/operations/backtest-schema.ts';
import type { ConsoleSource } from '../view/console-source.ts';
import { REPORT_FILE, withReport } from '../view/report-file.ts';
import { reportSource } from '../view/report-source.ts';
import { routeTo, signInCodeOf, signInRefusalOf } from '../view/route.ts';
import { html, type Shown } from './element/html.ts';
import { saveFile } from './element/save-file.ts';
import { LoginPage } from './pages/login-page.ts';
import { Shell } from './shell.ts';
import { keepReport, keptReport } from './source/kept-report.ts';
import { currentSession, type Session, signIn, signOut, whenSignedOut } from './source/service-calls.ts';

/** Shows the login unless the browser has a session, or a link that starts one. */
export function SignedInConsole({ source }: { readonly source: ConsoleSource }): Shown {
  const [session, setSession] = useState<Session | null>(null);
  const [report, setReport] = useState<ReportData | null>(null);
  const [isKnown, setKnown] = useState(false);
  const [provider, setProvider] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  useEffect(() => {
    whenSignedOut(() =>
      setSession((before) => {
        if (before !== null) setRefusal('Your session has ended. Sign in again to continue on this page.');
        return null;
      }),
    );
    const begin = () => {
      const code = signInCodeOf(location.hash);
      const refused = signInRefusalOf(location.hash);
      setRefusal(refused);
      // The code is in no history of the browser.
      if (code !== null || refused !== null) history.replaceState(null, '', location.pathname);
      currentSession()
        .then(async ({ session: of, provider: host = null }) => {
          setProvider(host);
          const begun = of === null && code !== null ? await signIn(code) : of;
          if (begun !== null) setReport(await keptReport(begun.name));
          setSession(begun);
        })
        // Without an answer the form is shown; it shows what is wrong.
        .catch(() => {
          if (code !== null) setRefusal('This link was used, or has expired. Sign in with a key instead.');
        })
        .finally(() => setKnown(true));
    };
    const follow = () => {
      if (signInCodeOf(location.hash) !== null || signInRefusalOf(location.hash) !== null) begin();
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
  if (session === null) {
    const enter = (begun: Session) => {
      setRefusal(null);
      setSession(begun);
    };
    return html`<${LoginPage} onSession=${enter} provider=${provider} refusal=${refusal} />`;
  }
  const show = async (shown: ReportData | null) => {
    // A page that is loaded again shows it.
    await keepReport(shown && { owner: session.name, report: shown });
    location.hash = routeTo(shown === null ? 'backtest' : 'summary');
    setReport(shown);
  };
  if (report !== null) return html`<${ShownReport} report=${report} onLeave=${() => void show(null)} />`;
  return html`<${Shell} source=${source} session=${session} onLeave=${leave} onReport=${show} />`;
}

/** A backtest in the pages of the service. Its addresses are its own. */
function ShownReport({ report, onLeave }: { readonly report: ReportData; readonly onLeave: () => void }): Shown {
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
