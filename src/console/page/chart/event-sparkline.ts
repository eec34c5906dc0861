import { useEffect, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { ConsoleSource } from '../../view/console-source.ts';
import { withGaps } from '../../view/scores/gaps.ts';
import { NO_SCORES, type ShownScores, type TimeRange } from '../../view/scores/shown-scores.ts';
import { spanOf, sparklineOf } from '../../view/scores/sparkline.ts';
import { isOfDetector, subjectName } from '../../view/words/event-words.ts';
import { html, type Shown } from '../element/html.ts';

const WIDTH = 150;
const HEIGHT = 34;
const POINTS = 72;
/** Time shown before the start of an event, in lengths of the event. */
const LEAD = 1.5;
const LEAD_MS_MIN = 3_600_000;
const EVERY_MS = 15_000;

/** Requests of small drawings that run at once. */
const AT_ONCE_MAX = 4;

const waiting: (() => void)[] = [];
let running = 0;

/** Runs background reads a few at a time, so that they do not delay what a person requested. */
export async function inTurn(read: () => Promise<void>): Promise<void> {
  if (running >= AT_ONCE_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    await read();
  } catch {
    // A drawing that cannot be read stays empty; the page itself shows why.
  } finally {
    running--;
    waiting.shift()?.();
  }
}

interface EventSparklineProps {
  readonly source: ConsoleSource;
  readonly event: EventAnswer;
  readonly width?: number;
  readonly height?: number;
}

/**
 * The series from before the event until now, or until as long behind its end. A group shows the member with the
 * largest share, a pause of a detector nothing: no single series represents it.
 */
export function EventSparkline({ source, event, width = WIDTH, height = HEIGHT }: EventSparklineProps): Shown {
  const [{ columns, range }, setDrawn] = useState<{ columns: ShownScores; range?: TimeRange }>({ columns: NO_SCORES });
  const series = isOfDetector(event) ? null : (event.members[0]?.series ?? subjectName(event));
  useEffect(() => {
    if (series === null) return;
    let gone = false;
    const load = () =>
      inTurn(async () => {
        if (gone) return;
        const end = event.endedAtMs ?? Math.max(event.updatedAtMs, source.nowMs());
        const lead = Math.max(LEAD_MS_MIN, (end - event.startedAtMs) * LEAD);
        const from = Math.round(event.startedAtMs - lead);
        // An event that ended is shown with as much behind it.
        const to = Math.round(event.endedAtMs === null ? end : end + lead);
        const found = withGaps(await source.scores(series, { from, to: to + 1, points: POINTS }));
        const newest = found.timestampMs.at(-1) ?? to;
        // A series without data ends before the right edge, which is the present.
        if (!gone) setDrawn({ columns: found, range: { from, to: event.endedAtMs === null ? to : newest } });
      });
    void load();
    const timer = event.endedAtMs === null ? setInterval(() => document.hidden || void load(), EVERY_MS) : undefined;
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [source, series, event.startedAtMs, event.endedAtMs]);
  return html`<${SparkDrawing} columns=${columns} range=${range} width=${width} height=${height}
    startedAt=${event.startedAtMs} endedAt=${event.endedAtMs} />`;
}

interface SparkDrawingProps {
  readonly columns: ShownScores;
  readonly width: number;
  readonly height: number;
  /** Time that the width shows; left out: from the first to the last value. */
  readonly range?: TimeRange;
  readonly startedAt?: number;
  readonly endedAt?: number | null;
  readonly marks?: readonly number[];
}

export function SparkDrawing(props: SparkDrawingProps): Shown {
  const { columns, width, height, range = spanOf(columns), startedAt, endedAt = null, marks = [] } = props;
  const { line, band, alarms } = sparklineOf(columns, { width, height, range });
  const { from: first, to: last } = range;
  const xOf = (at: number) => Math.min(width, Math.max(0, ((at - first) / (last - first)) * width));
  const start = startedAt === undefined || last <= first ? null : xOf(startedAt);
  const end = endedAt === null ? width : xOf(endedAt);
  return html`<svg class="spark" preserveAspectRatio="none" viewBox="0 0 ${width} ${height}" width=${width}
    height=${height} aria-hidden="true"
    focusable="false">
    ${
      start !== null &&
      start < width &&
      html`<rect class="spark-event" x=${start} y="0" width=${Math.max(2, end - start)} height=${height} />`
    }
    ${marks
      .filter((at) => at >= first && at <= last)
      .map((at) => html`<path class="spark-change" d=${`M${xOf(at)} 0V${height}`} />`)}
    ${band !== '' && html`<path class="spark-band" d=${band} />`}
    ${line !== '' && html`<path class="spark-line" d=${line} />`}
    ${alarms.length > 0 && html`<path class="spark-alarm" d=${alarms.map(({ x, y }) => `M${x} ${y}h0`).join('')} />`}
  </svg>`;
}
