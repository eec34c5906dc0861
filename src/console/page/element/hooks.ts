import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReportData } from '../../../api/wire/schema/operations/backtest-schema.ts';
import type { ShownChange } from '../../../api/wire/schema/operations/change-schema.ts';
import type { DetectorsAnswer } from '../../../api/wire/schema/operations/detectors-schema.ts';
import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { IncidentDetailAnswer } from '../../../api/wire/schema/operations/incident-schema.ts';
import type { ListedNames } from '../../../records/series/listed-names.ts';
import type { ConsoleSource } from '../../view/console-source.ts';
import { parseRoute, type Route, routeTo } from '../../view/route.ts';
import type { ShownScores, TimeRange } from '../../view/scores/shown-scores.ts';
import { type ShownFreshness, shownFreshness } from '../../view/words/freshness-words.ts';
import { livePause, type PauseState } from '../source/live-pause.ts';
import type { OpenEvents, OpenEventsState } from '../source/open-events.ts';

export interface Console {
  readonly source: ConsoleSource;
  readonly openEvents: OpenEvents;
  /** The key allows acts on events (operator), changes of settings (admin). */
  readonly mayOperate: boolean;
  readonly mayAdminister: boolean;
  /** Shows a backtest instead of the service; null inside of one. */
  readonly showReport: ((report: ReportData) => void) | null;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // An effect would listen from the next frame on, and the address may change before.
  useLayoutEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

interface Loaded<T> {
  readonly value: T | null;
  /** Why there is none, or why it is not the newest. */
  readonly failure: string | null;
  readonly reload: () => void;
}

/**
 * Loads when `key` changes, and again every `everyMs` while the page is visible and not paused. An earlier answer stays
 * until the next one is there; one that comes too late is dropped.
 */
export function useLoaded<T>(key: string, load: () => Promise<T>, everyMs: number | null = null): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; failure: string | null }>({
    key,
    value: null,
    failure: null,
  });
  const newest = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => {
    const number = ++newest.current;
    latest.current().then(
      (value) => number === newest.current && setState({ key, value, failure: null }),
      (error: Error) => {
        if (number !== newest.current) return;
        setState((before) => ({ key, value: before.key === key ? before.value : null, failure: error.message }));
      },
    );
  }, [key]);
  useEffect(() => {
    reload();
    if (everyMs === null) return undefined;
    const timer = setInterval(() => document.hidden || livePause.state.paused || reload(), everyMs);
    return () => {
      newest.current++;
      clearInterval(timer);
    };
  }, [reload, everyMs]);
  return { value: state.key === key ? state.value : null, failure: state.failure, reload };
}

interface PagesSettings<Page, Row> {
  readonly rowsOf: (page: Page) => readonly Row[];
  /** A row of two pages is shown once. */
  readonly keyOf: (row: Row) => string;
  readonly everyMs: number;
}

/** A list in pages. The first one is loaded as by `useLoaded`; `readMore` adds the next. */
export function usePages<Page extends { readonly next_cursor: string | null }, Row>(
  key: string,
  load: (cursor: string) => Promise<Page>,
  { rowsOf, keyOf, everyMs }: PagesSettings<Page, Row>,
) {
  const first = useLoaded(key, () => load(''), everyMs);
  const [added, setAdded] = useState<{ readonly key: string; readonly pages: readonly Page[] }>({ key, pages: [] });
  const more = added.key === key ? added.pages : [];
  const pages = first.value === null ? more : [first.value, ...more];
  const next = pages.at(-1)?.next_cursor ?? null;
  const rows = useMemo(
    () => [...new Map(pages.flatMap((page) => rowsOf(page)).map((row) => [keyOf(row), row])).values()],
    [first.value, added, key],
  );
  const readMore = async () => {
    const page = await load(next ?? '');
    setAdded({ key, pages: [...more, page] });
  };
  return { ...first, rows, next, readMore };
}

/** The present in event time, a new one every `everyMs`. */
export function useNow(source: ConsoleSource, everyMs = 1_000): number {
  const [nowMs, setNowMs] = useState(() => source.nowMs());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNowMs(source.nowMs()), everyMs);
    return () => clearInterval(timer);
  }, [source, everyMs]);
  return nowMs;
}

/** The width of an element, followed while it changes. */
export function useWidth<T extends HTMLElement>(): { readonly ref: { current: T | null }; readonly width: number } {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (ref.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

/** A choice that the address keeps, without an entry in the history of the browser. */
export function useAddressed(name: string, fallback: string): [string, (value: string) => void] {
  const read = () => parseRoute(location.hash).query[name] ?? fallback;
  const [value, setValue] = useState(read);
  useEffect(() => {
    const follow = () => setValue(read());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [name]);
  const keep = (next: string) => {
    setValue(next);
    const { page, subject, query } = parseRoute(location.hash);
    const kept = { ...query, [name]: next === fallback ? '' : next };
    history.replaceState(history.state, '', routeTo(page, subject, kept));
  };
  return [value, keep];
}

/** Typing is over when no key came for so long: browsers refuse an address that changes with each key. */
const TYPED_MS = 250;

/** A text that is typed. When typing is over the address keeps it; another one of the address takes its place. */
export function useTyped(addressed: string, keep: (typed: string) => void): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(addressed);
  const kept = useRef(addressed);
  const typedOn = useRef('');
  useEffect(() => {
    if (addressed !== kept.current) setTyped(addressed);
    kept.current = addressed;
  }, [addressed]);
  useEffect(() => {
    const timer = setTimeout(() => {
      // A link may have been followed meanwhile: the browser reports a new address later than it has it.
      if (typed === kept.current || shownPage() !== typedOn.current) return;
      kept.current = typed;
      keep(typed);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const type = (text: string) => {
    typedOn.current = shownPage();
    setTyped(text);
  };
  return [typed, type];
}

function shownPage(): string {
  const { page, subject } = parseRoute(location.hash);
  return `${page}/${subject}`;
}

export function useStored(name: string, fallback: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => readStored(name) ?? fallback);
  const store = (next: string) => {
    setValue(next);
    try {
      localStorage.setItem(`tidewatch.${name}`, next);
    } catch {
      // Without storage, as in a private window, a choice lasts as long as the page.
    }
  };
  return [value, store];
}

function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`tidewatch.${name}`);
  } catch {
    return null;
  }
}

/** True while pages show the present; null in the first moment, and in a report. */
export function useFreshness(app: Console): ShownFreshness | null {
  const state = useOpenEvents(app);
  return shownFreshness(state, useNow(app.source), Date.now());
}

/** True while updates are paused, with the number that waits. */
export function usePause(): PauseState {
  const [state, setState] = useState(livePause.state);
  useEffect(() => livePause.subscribe(setState), []);
  return state;
}

export function useOpenEvents({ openEvents }: Console): OpenEventsState {
  const [state, setState] = useState(openEvents.state);
  useEffect(() => openEvents.subscribe(setState), [openEvents]);
  return state;
}

/** Acts on the service; `failure` is why the last act failed. `after` follows an act that succeeded. */
export function useAct(after: () => Promise<void> | void = () => {}) {
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const act = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
      setFailure(null);
      await after();
    } catch (error) {
      setFailure((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return { act, failure, busy };
}

/** Properties that mean the same in every element. */
interface AllProps {
  readonly app: Console;
  readonly route: Route;
  readonly query: Route['query'];
  /** The present in event time. */
  readonly nowMs: number;
  /** Names of the rows of the list around it. */
  readonly names: ListedNames;
  readonly event: EventAnswer;
  readonly events: readonly EventAnswer[];
  readonly incident: IncidentDetailAnswer;
  readonly series: string;
  readonly changes: readonly ShownChange[];
  /** Id of the event that is shown; null without one. */
  readonly chosen: string | null;
  readonly columns: ShownScores;
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  /** The detectors file. */
  readonly file: DetectorsAnswer;
  readonly onSaved: () => void;
  readonly onChanged: () => void;
}

export type Props<Name extends keyof AllProps> = Pick<AllProps, Name>;
