import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { SeriesNow } from '../../../api/wire/schema/operations/history-schema.ts';
import { type ConsoleSource, type ShownPast, SourceFailure } from '../../view/console-source.ts';
import { parseRoute, rangeOf, withRange } from '../../view/route.ts';
import { withGaps } from '../../view/scores/gaps.ts';
import { withArrived } from '../../view/scores/score-buffer.ts';
import { following, NO_SCORES, panned, type ShownScores, type TimeRange } from '../../view/scores/shown-scores.ts';
import { HOUR_MS } from '../../view/words/mute-words.ts';

const WHOLE_POINTS = 1_200;
const POINTS = 2_400;
/** Newest scores that are shown at first. */
const SHOWN_SCORES = 300;
/** Share of a range that is shown at first, where it has too many scores to show each. */
const SHOWN_SHARE = 0.1;
const READ_AFTER_MS = 120;
/** After a failure it is read again, such as once the service is back. */
const RETRY_MS = 3_000;
const DRAW_EVERY_MS = 250;

export interface SeriesHistoryState {
  readonly columns: ShownScores;
  /** All that is kept of the series, for the overview. */
  readonly whole: ShownScores;
  readonly range: TimeRange | null;
  readonly about: Pick<ShownPast, 'detector' | 'group'> | null;
  readonly failure: string | null;
  readonly live: boolean;
  readonly spans: readonly { readonly name: string; readonly ms: number }[];
  readonly setRange: (range: TimeRange) => void;
  readonly pan: (share: number) => void;
  readonly showLast: (ms: number) => void;
  readonly goLive: () => void;
}

interface HistoryOf {
  readonly series: string;
  readonly focus: EventAnswer | null;
  /** False while it is not known whether there is a focus. */
  readonly ready: boolean;
}

const SPANS = [
  { name: '1 h', ms: HOUR_MS },
  { name: '6 h', ms: 6 * HOUR_MS },
  { name: '1 d', ms: 24 * HOUR_MS },
  { name: '1 w', ms: 7 * 24 * HOUR_MS },
];

/** The scores of the stretch of time that is shown: read again when it changes, and grown while it is live. */
export function useSeriesHistory(source: ConsoleSource, { series, focus, ready }: HistoryOf): SeriesHistoryState {
  const [whole, setWhole] = useState<ShownPast | null>(null);
  const [columns, setColumns] = useState<ShownScores>(NO_SCORES);
  const [range, setRange] = useState<TimeRange | null>(null);
  const [live, setLive] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const retries = useRetries(failure);
  const newest = useRef(0);

  useEffect(() => {
    // Read once: the element of another series is another one.
    if (whole !== null) return;
    source.scores(series, { points: WHOLE_POINTS }).then((found) => {
      newest.current = found.timestampMs.at(-1) ?? source.nowMs();
      setWhole(found);
      setFailure(null);
    }, setFailure);
  }, [source, series, retries]);

  useEffect(() => {
    if (whole === null || !ready || range !== null) return;
    const given = rangeOf(parseRoute(location.hash));
    setRange(given ?? (focus === null ? newestRange(whole, source.nowMs()) : rangeAround(focus, whole)));
    setLive(source.kind === 'service' && focus === null && given === null);
  }, [whole, ready]);

  useEffect(() => {
    if (range === null || (live && columns.timestampMs.length > 0)) return undefined;
    const span = range.to - range.from;
    const read = () =>
      source.scores(series, { from: range.from - span, to: range.to + span, points: POINTS }).then((found) => {
        setColumns(found);
        setFailure(null);
      }, setFailure);
    const timer = setTimeout(read, columns.timestampMs.length === 0 ? 0 : READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [source, series, range, live, retries]);

  useArrivedScores(source, series, (arrived) => {
    newest.current = Math.max(newest.current, ...arrived.map(({ timestampMs }) => timestampMs));
    if (!live) return;
    setColumns((before) => (before.timestampMs.length === 0 ? before : withArrived(before, arrived)));
    setRange((before) => before && following(before, newest.current));
  });

  useAddressedRange((given) => {
    setLive(false);
    setRange(given);
  });

  const keepRange = useKeptRange();
  const choose = (next: TimeRange) => {
    setLive(false);
    setRange(next);
    keepRange(next);
  };
  const last = (ms: number) => ({ from: newest.current - ms, to: newest.current });
  const drawn = useMemo(() => withGaps(columns), [columns]);
  const drawnWhole = useMemo(() => (whole === null ? NO_SCORES : withGaps(whole)), [whole]);
  return {
    columns: drawn,
    range,
    failure: failure?.message ?? null,
    live,
    whole: drawnWhole,
    about: whole,
    spans: [...SPANS, { name: 'all', ms: newest.current - (whole?.timestampMs[0] ?? newest.current - HOUR_MS) }],
    setRange: choose,
    pan: (share) => range !== null && choose(panned(range, share)),
    showLast: (ms) => choose(last(ms)),
    goLive: () => {
      const span = range === null ? HOUR_MS : range.to - range.from;
      // What arrived meanwhile is read with the rest.
      setColumns(NO_SCORES);
      setRange(last(span));
      setLive(true);
      keepRange(null);
    },
  };
}

/** Counts up while there is a failure that may pass: a request that was refused would be refused again. */
function useRetries(failure: Error | null): number {
  const [retries, setRetries] = useState(0);
  useEffect(() => {
    const isRefused = failure instanceof SourceFailure && failure.status >= 400 && failure.status < 500;
    if (failure === null || isRefused) return undefined;
    const timer = setTimeout(() => setRetries(retries + 1), RETRY_MS);
    return () => clearTimeout(timer);
  }, [failure, retries]);
  return retries;
}

function useAddressedRange(accept: (range: TimeRange) => void): void {
  useEffect(() => {
    const follow = () => {
      const given = rangeOf(parseRoute(location.hash));
      if (given !== null) accept(given);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
}

/** Browsers refuse an address that is written about a hundred times in half a minute. */
const KEEP_AFTER_MS = 250;

/** Writes the chosen stretch of time into the address, without an entry in the history of the browser. */
function useKeptRange(): (range: TimeRange | null) => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (range) => {
    clearTimeout(timer.current);
    const keep = () => history.replaceState(history.state, '', withRange(parseRoute(location.hash), range));
    timer.current = setTimeout(keep, KEEP_AFTER_MS);
  };
}

/** Passes on what arrives of a series, several scores at once: a chart that is drawn more often shows no more. */
function useArrivedScores(
  source: ConsoleSource,
  series: string,
  accept: (arrived: readonly SeriesNow[]) => void,
): void {
  const latest = useRef(accept);
  latest.current = accept;
  useEffect(() => {
    if (source.kind !== 'service') return undefined;
    let waiting: SeriesNow[] = [];
    const stop = source.watch({ series, match: '' }, { onScores: (scores) => waiting.push(...scores) });
    const timer = setInterval(() => {
      if (waiting.length === 0 || document.hidden) return;
      latest.current(waiting);
      waiting = [];
    }, DRAW_EVERY_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, [source, series]);
}

/** The newest scores, up to the present unless the series stopped long ago. */
function newestRange({ timestampMs: at, bucket_ms }: ShownScores, nowMs: number): TimeRange {
  const to = at.at(-1) ?? nowMs;
  if (at.length < 2) return { from: to - HOUR_MS, to };
  const from = bucket_ms !== null ? to - (to - at[0]) * SHOWN_SHARE : at[Math.max(0, at.length - SHOWN_SCORES)];
  return { from, to: nowMs - to < to - from ? Math.max(to, nowMs) : to };
}

/** The event in the middle third, with at least a tenth of what is shown at first around it. */
function rangeAround({ startedAtMs, endedAtMs }: EventAnswer, columns: ShownScores): TimeRange {
  const usual = newestRange(columns, 0);
  const end = endedAtMs ?? usual.to;
  const lead = Math.max(end - startedAtMs, (usual.to - usual.from) / 3);
  return { from: startedAtMs - lead, to: Math.min(end + lead, Math.max(usual.to, end)) };
}
