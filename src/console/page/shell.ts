import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReportData } from '../../sidecar/wire/schema/backtest-schema.ts';
import type { ConsoleSource } from '../view/console-source.ts';
import { type Route, routeTo } from '../view/route.ts';
import { type Console, useOpenEvents, useRoute, useStored } from './element/hooks.ts';
import { html, type Shown } from './element/html.ts';
import { Icon } from './element/icons.ts';
import { Wave } from './element/wave.ts';
import { BacktestPage } from './pages/backtest-page.ts';
import { DetectorsPage } from './pages/detectors/detectors-page.ts';
import { EventsPage } from './pages/events/events-page.ts';
import { NowPage } from './pages/now-page.ts';
import { SeriesPage } from './pages/series/series-page.ts';
import { ServicePage } from './pages/service/service-page.ts';
import { WallPage } from './pages/wall-page.ts';
import { OpenEvents } from './source/open-events.ts';
import type { Session } from './source/service-calls.ts';
import { Tour } from './tour.ts';

interface ShownPage {
  readonly name: string;
  readonly title: string;
  readonly page: (props: { readonly app: Console; readonly route: Route }) => Shown;
  /** False where a report has none. */
  readonly inReport: boolean;
}

const PAGES: readonly ShownPage[] = [
  { name: 'now', title: 'Now', page: NowPage, inReport: true },
  { name: 'series', title: 'Series', page: SeriesPage, inReport: true },
  { name: 'events', title: 'Events', page: EventsPage, inReport: true },
  { name: 'detectors', title: 'Detectors', page: DetectorsPage, inReport: false },
  { name: 'backtest', title: 'Backtest', page: BacktestPage, inReport: false },
  { name: 'service', title: 'Service', page: ServicePage, inReport: false },
];

interface ShellProps {
  readonly source: ConsoleSource;
  readonly session: Session | null;
  readonly onLeave: (() => void) | null;
  /** Title of a report. */
  readonly title?: string;
  readonly onReport?: (report: ReportData) => void;
}

/** Navigation, and the page of the address. */
export function Shell({ source, session, onLeave, title, onReport }: ShellProps): Shown {
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
  const pages = PAGES.filter(({ inReport }) => inReport || source.kind === 'service');
  const shown = pages.find(({ name }) => name === route.page) ?? pages[0];
  useTitle(app, shown.title, route);
  useShortcuts(main);
  if (route.page === 'wall') return html`<${WallPage} app=${app} />`;
  const toContent = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return html`<div class="shell">
    <a class="skip" href="#content" onClick=${toContent}>Skip to the content</a>
    <header class="rail">
      <a class="brand" href=${routeTo('now')}><${Wave} /><span>Tidewatch</span></a>
      ${title !== undefined && html`<p class="report-title" title=${title}>${title}</p>`}
      <nav aria-label="Pages">
        ${pages.map(
          ({ name, title }) => html`<a href=${routeTo(name)} aria-current=${name === shown.name ? 'page' : null}>
            <${Icon} name=${name} /><span>${name === 'now' && source.kind === 'report' ? 'At its end' : title}</span>
              ${name === 'now' && html`<${OpenCount} app=${app} />`}
          </a>`,
        )}
      </nav>
      <div class="rail-foot">
        ${source.kind === 'service' && html`<a href=${routeTo('wall')}><${Icon} name="wall" /><span>Wall</span></a>`}
        <${ThemeChoice} />
        ${source.kind === 'service' && html`<${Connection} app=${app} />`}
        ${onLeave !== null && html`<${LeaveButton} session=${session} onLeave=${onLeave} />`}
      </div>
    </header>
    <main id="content" ref=${main} tabindex="-1"><${shown.page} key=${shown.name} app=${app} route=${route} /></main>
    ${source.kind === 'service' && html`<${Tour} />`}
  </div>`;
}

interface LeaveButtonProps {
  readonly session: Session | null;
  readonly onLeave: () => void;
}

function LeaveButton({ session, onLeave }: LeaveButtonProps): Shown {
  const who = session === null ? '' : `Signed in with the key ${session.name} (${session.role})`;
  return html`<button type="button" class="plain" onClick=${onLeave} title=${who}>
    <${Icon} name="leave" /><span>${session === null ? 'Back to the service' : 'Sign out'}</span></button>`;
}

function OpenCount({ app }: { readonly app: Console }): Shown {
  const { total } = useOpenEvents(app);
  return total > 0 && html`<span class="count" aria-label=${`${total} open`}>${total}</span>`;
}

function Connection({ app }: { readonly app: Console }): Shown {
  const { connected } = useOpenEvents(app);
  const text = connected ? 'Live' : 'Connecting';
  return html`<span class=${connected ? 'live on' : 'live'} role="status"><i aria-hidden="true" /><span>${text}</span>
    </span>`;
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

/** `g` and a letter goes to a page, `/` to the search. Keys that are typed into a field are no shortcuts. */
function useShortcuts(main: { readonly current: HTMLElement | null }): void {
  // An effect would listen from the next frame on, and lose a key that is pressed as soon as the page shows.
  useLayoutEffect(() => {
    let went = 0;
    const press = (event: KeyboardEvent) => {
      const { target, key } = event;
      const isTyping = target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (key === '/') {
        event.preventDefault();
        main.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      } else if (key === 'g') went = event.timeStamp;
      else if (event.timeStamp - went < 1_000) {
        const to = key === 'w' ? 'wall' : PAGES.find(({ name }) => name.startsWith(key))?.name;
        if (to !== undefined) location.hash = routeTo(key === 's' ? 'series' : to);
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [main]);
}
