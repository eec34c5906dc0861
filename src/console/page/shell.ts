import { useEffect, useErrorBoundary, useMemo, useRef } from 'preact/hooks';
import type { ReportData } from '../../api/wire/schema/operations/backtest-schema.ts';
import { type ConsoleSource, chosenMatch } from '../view/console-source.ts';
import { type Route, routeTo } from '../view/route.ts';
import { counted, showTimesIn } from '../view/words/value-words.ts';
import {
  type Console,
  type Props,
  useFreshness,
  useLoaded,
  useOpenEvents,
  usePause,
  useRoute,
  useStored,
} from './element/hooks.ts';
import { classes, Failure, html, Icon, Loading, type Shown, typedIn, Wave } from './element/html.ts';
import { Shortcuts } from './element/shortcuts.ts';
import { Units } from './element/units.ts';
import { BacktestPage } from './pages/backtest-page.ts';
import { DetectorsPage } from './pages/detectors/detectors-page.ts';
import { EventsPage } from './pages/events/events-page.ts';
import { IncidentPage } from './pages/incidents/incident-page.ts';
import { IncidentsPage } from './pages/incidents/incidents-page.ts';
import { MutesPage } from './pages/mutes-page.ts';
import { NowPage } from './pages/now-page.ts';
import { SentPage } from './pages/sent-page.ts';
import { EventPage } from './pages/series/event-page.ts';
import { SeriesPage } from './pages/series/series-page.ts';
import { KeysPage } from './pages/service/keys-page.ts';
import { ServicePage } from './pages/service/service-page.ts';
import { SummaryPage } from './pages/summary-page.ts';
import { livePause } from './source/live-pause.ts';
import { OpenEvents } from './source/open-events.ts';
import type { Session } from './source/service-calls.ts';

type Page = (props: Props<'app' | 'route'>) => Shown;

interface ShownPage {
  readonly name: string;
  readonly title: string;
  readonly page: Page;
  /** The page of one of them, which the address names. */
  readonly one?: Page;
  readonly isSetting?: boolean;
}

const PAGES: readonly ShownPage[] = [
  { name: 'now', title: 'Now', page: NowPage },
  { name: 'incidents', title: 'Incidents', page: IncidentsPage, one: IncidentPage },
  { name: 'series', title: 'Series', page: SeriesPage },
  { name: 'events', title: 'Events', page: EventsPage, one: EventPage },
  { name: 'backtest', title: 'Backtest', page: BacktestPage },
  { name: 'detectors', title: 'Detectors', page: DetectorsPage, isSetting: true },
  { name: 'mutes', title: 'Mutes', page: MutesPage, isSetting: true },
  { name: 'sent', title: 'Sent', page: SentPage, isSetting: true },
  { name: 'keys', title: 'Keys', page: KeysPage, isSetting: true },
  { name: 'service', title: 'Service', page: ServicePage, isSetting: true },
];

/** Name and version of the service that made the page. */
const VERSION = document.querySelector<HTMLMetaElement>('meta[name=generator]')?.content ?? '';
/** Detectors change while the page is open. */
const WORDS_EVERY_MS = 60_000;
const NO_UNITS = {};

/** A report begins with a summary: what is open at its end is the smaller part of a past. */
const PAGES_OF_REPORT: readonly ShownPage[] = [
  { name: 'summary', title: 'Summary', page: SummaryPage },
  ...['events', 'series'].flatMap((name) => PAGES.filter((page) => page.name === name)),
];

interface ShellProps {
  readonly source: ConsoleSource;
  readonly session: Session | null;
  readonly onLeave: (() => void) | null;
  readonly title?: string;
  readonly onReport?: (report: ReportData) => void;
  /** Saves what is shown as a file; left out where it is one. */
  readonly onSave?: () => void;
}

/** Navigation, and the page of the address. */
export function Shell({ source, session, onLeave, title, onReport, onSave }: ShellProps): Shown {
  const app = useMemo<Console>(() => {
    const isService = source.kind === 'service' && session !== null;
    return {
      source,
      openEvents: new OpenEvents(source),
      mayOperate: isService && session.role !== 'viewer',
      mayAdminister: isService && session.role === 'admin',
      showReport: onReport ?? null,
    };
  }, [source, session]);
  useEffect(() => {
    app.openEvents.start();
    return () => app.openEvents.stop();
  }, [app]);
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const pages = source.kind === 'service' ? PAGES : PAGES_OF_REPORT;
  const shown = pages.find(({ name }) => name === route.page) ?? pages[0];
  const page = route.subject === null ? shown.page : (shown.one ?? shown.page);
  const { match = '' } = shown.name === 'now' ? route.query : {};
  useEffect(() => app.openEvents.choose(chosenMatch(match)), [app, match]);
  const words = useLoaded('words', () => source.detectorWords(), WORDS_EVERY_MS).value;
  const units = words?.units ?? NO_UNITS;
  const [zone, setZone] = useStored('zone', '');
  // Before anything below is drawn.
  showTimesIn(zone === '' ? undefined : zone);
  // Times of another clock are drawn again.
  const pageKey = `${zone} ${page === shown.one ? `one ${route.subject}` : shown.name}`;
  useTitle(app, shown.title, route);
  const toContent = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return html`<${Units.Provider} value=${units}><div class="shell">
    <a class="skip" href="#content" onClick=${toContent}>Skip to the content</a>
    <header class="rail">
      <a class="brand" href=${routeTo(pages[0].name)}><${Wave} /><span>Tidewatch</span></a>
      ${title !== undefined && html`<p class="report-title" title=${title}>${title}</p>`}
      <nav aria-label="Pages">
        ${pages
          .filter(({ isSetting }) => !isSetting)
          .map(
            ({ name, title }) => html`<a href=${routeTo(name)} aria-current=${name === shown.name ? 'page' : null}>
            <${Icon} name=${name} /><span>${title}</span>
              ${name === 'now' && html`<${OpenCount} app=${app} />`}
          </a>`,
          )}
        ${
          source.kind === 'service' &&
          html`<a href=${routeTo('detectors')} aria-current=${shown.isSetting ? 'page' : null}>
          <${Icon} name="detectors" /><span>Settings</span></a>`
        }
      </nav>
      <div class="rail-foot">
        <${ThemeChoice} />
        <${ZoneChoice} zone=${zone} zones=${words?.zones ?? []} onZone=${setZone} />
        ${source.kind === 'service' && html`<${PauseButton} /><${Connection} app=${app} />`}
        ${
          onSave !== undefined &&
          html`<button type="button" class="plain" onClick=${onSave}>
          <${Icon} name="out" /><span>Save as a file</span></button>`
        }
        ${onLeave !== null && html`<${LeaveButton} session=${session} onLeave=${onLeave} />`}
        <p class="version">${VERSION}</p>
        <${Shortcuts} main=${main} pages=${pages} />
      </div>
    </header>
    <main id="content" ref=${main} tabindex="-1">${source.kind === 'service' && html`<${NotCurrent} app=${app} />`}
      ${shown.isSetting && html`<${SettingsTabs} chosen=${shown.name} />`}
      <${PageFrame} key=${pageKey} page=${page} app=${app} route=${route} /></main>
  </div><//>`;
}

function SettingsTabs({ chosen }: { readonly chosen: string }): Shown {
  return html`<nav class="tabs" aria-label="Settings">${PAGES.filter(({ isSetting }) => isSetting).map(
    ({ name, title }) => html`<a href=${routeTo(name)} aria-current=${name === chosen ? 'page' : null}>${title}</a>`,
  )}</nav>`;
}

/** A page that fails shows its error; the others remain. */
function PageFrame({ page, app, route }: { readonly page: Page; readonly app: Console; readonly route: Route }): Shown {
  const [error] = useErrorBoundary();
  const { freshness, freshnessFailure } = useOpenEvents(app);
  if (error !== undefined) return html`<${Failure} text=${`This page cannot be shown: ${error.message}`} />`;
  if (freshness === undefined && freshnessFailure === null) return html`<${Loading} what="the state of the service" />`;
  return html`<${page} app=${app} route=${route} />`;
}

function LeaveButton({ session, onLeave }: { readonly session: Session | null; readonly onLeave: () => void }): Shown {
  const who = session === null ? '' : `Signed in with the key ${session.name} (${session.role})`;
  return html`<button type="button" class="plain" onClick=${onLeave} title=${who}>
    <${Icon} name="leave" /><span>${session === null ? 'Back to the service' : 'Sign out'}</span></button>`;
}

function OpenCount({ app }: Props<'app'>): Shown {
  const { total } = useOpenEvents(app);
  return total > 0 && html`<span class="count" aria-label=${`${total} open`}>${total}</span>`;
}

function Connection({ app }: Props<'app'>): Shown {
  const { connected, freshness: known } = useOpenEvents(app);
  const freshness = useFreshness(app);
  if (known === null) return null;
  const isLive = connected && freshness?.isCurrent === true;
  const text = freshness === null || (freshness.isCurrent && !connected) ? 'Connecting' : freshness.mark;
  return html`<span class=${isLive ? 'live on' : 'live'} role="status" title=${freshness?.reason ?? null}>
    <i aria-hidden="true" /><span>${text}</span></span>`;
}

/** A paused page does not change; messages are counted and shown afterwards. */
function PauseButton(): Shown {
  const { paused, waiting } = usePause();
  const text = paused ? `Resume, ${counted(waiting, 'update')} waiting` : 'Pause';
  return html`<button type="button" class=${classes('plain', paused && 'paused')} onClick=${() => livePause.toggle()}
    aria-keyshortcuts="p"><${Icon} name=${paused ? 'forth' : 'pause'} /><span>${text}</span></button>`;
}

/** Above every page while it does not show how things are now. */
function NotCurrent({ app }: Props<'app'>): Shown {
  const freshness = useFreshness(app);
  if (freshness === null || freshness.isCurrent) return null;
  return html`<p class="not-current" role="status"><strong>${freshness.mark}.</strong>
    ${` ${freshness.reason} ${freshness.remains}`}</p>`;
}

interface ZoneChoiceProps {
  readonly zone: string;
  readonly zones: readonly string[];
  readonly onZone: (zone: string) => void;
}

/** By which clock times are shown: that of the browser, UTC, or one that series follow. */
function ZoneChoice({ zone, zones, onZone }: ZoneChoiceProps): Shown {
  const browser = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const others = new Set(['UTC', ...zones, ...(zone === '' ? [] : [zone])]);
  const choose = (event: Event) => onZone(typedIn(event));
  return html`<div class="zone"><${Icon} name="clock" /><select aria-label="Times in" value=${zone} onChange=${choose}>
      <option value="">${browser} (browser)</option>
      ${[...others].map(
        (name) => html`<option value=${name}>${zones.includes(name) ? `${name} (detectors)` : name}
        </option>`,
      )}
    </select></div>`;
}

const THEMES: Readonly<Record<string, { readonly next: string; readonly icon: string; readonly text: string }>> = {
  auto: { next: 'dark', icon: 'auto', text: 'Theme: system' },
  dark: { next: 'light', icon: 'moon', text: 'Theme: dark' },
  light: { next: 'auto', icon: 'sun', text: 'Theme: light' },
};

function ThemeChoice(): Shown {
  const [theme, setTheme] = useStored('theme', 'auto');
  const { next, icon, text } = THEMES[theme] ?? THEMES.auto;
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event('themechange'));
  }, [theme]);
  return html`<button type="button" class="plain" onClick=${() => setTheme(next)}><${Icon} name=${icon} /><span>${text}
    </span></button>`;
}

function useTitle(app: Console, title: string, { subject }: Route): void {
  const { total } = useOpenEvents(app);
  useEffect(() => {
    document.title = `${total > 0 ? `(${total}) ` : ''}${subject ?? title} – Tidewatch`;
  }, [total, title, subject]);
}
