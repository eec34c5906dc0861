import { useEffect, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../sidecar/wire/schema/event-schema.ts';
import type { ConsoleSource } from '../../view/console-source.ts';
import { isOfDetector, subjectName } from '../../view/event-words.ts';
import { NO_SCORES, type ShownScores } from '../../view/shown-scores.ts';
import { sparklineOf } from '../../view/sparkline.ts';
import { html, type Shown } from '../element/html.ts';

const WIDTH = 150;
const HEIGHT = 34;
const POINTS = 72;
/** What is shown before the start of an event, in lengths of the event. */
const LEAD = 1.5;
const LEAD_MS_MIN = 3_600_000;
const EVERY_MS = 15_000;

/** Requests of small drawings that run at once. */
const AT_ONCE_MAX = 4;

const waiting: (() => void)[] = [];
let running = 0;

/** Runs background reads a few at a time, so that they do not stand before what a person requested. */
async function inTurn(read: () => Promise<void>): Promise<void> {
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
 * The series from before the event until now. A group shows the member with the largest share, a pause of a detector
 * nothing: no one of its series stands for all.
 */
export function EventSparkline({ source, event, width = WIDTH, height = HEIGHT }: EventSparklineProps): Shown {
  const [columns, setColumns] = useState<ShownScores>(NO_SCORES);
  const series = isOfDetector(event) ? null : (event.members[0]?.series_id ?? subjectName(event));
  useEffect(() => {
    if (series === null) return;
    let gone = false;
    const load = () =>
      inTurn(async () => {
        if (gone) return;
        const to = (event.ended_at ?? Math.max(event.updated_at, source.nowMs())) + 1;
        const lead = Math.max(LEAD_MS_MIN, (to - event.started_at) * LEAD);
        const found = await source.scores(series, { from: Math.round(event.started_at - lead), points: POINTS });
        if (!gone) setColumns(found);
      });
    void load();
    const timer = event.ended_at === null ? setInterval(() => document.hidden || void load(), EVERY_MS) : undefined;
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [source, series, event.started_at, event.ended_at]);
  return html`<${SparkDrawing} columns=${columns} width=${width} height=${height} startedAt=${event.started_at} />`;
}

interface SparkDrawingProps {
  readonly columns: ShownScores;
  readonly width: number;
  readonly height: number;
  readonly startedAt?: number;
}

export function SparkDrawing({ columns, width, height, startedAt }: SparkDrawingProps): Shown {
  const { line, band, alarms } = sparklineOf(columns, width, height);
  const [first, last] = [columns.timestamp[0] ?? 0, columns.timestamp.at(-1) ?? 0];
  const start = startedAt === undefined || last <= first ? null : ((startedAt - first) / (last - first)) * width;
  return html`<svg class="spark" preserveAspectRatio="none" viewBox="0 0 ${width} ${height}" width=${width}
    height=${height} aria-hidden="true"
    focusable="false">
    ${
      start !== null &&
      start < width &&
      html`<rect class="spark-event" x=${Math.max(0, start)} y="0"
      width=${width - Math.max(0, start)} height=${height} />`
    }
    ${band !== '' && html`<path class="spark-band" d=${band} />`}
    ${line !== '' && html`<path class="spark-line" d=${line} />`}
    ${alarms.length > 0 && html`<path class="spark-alarm" d=${alarms.map(({ x, y }) => `M${x} ${y}h0`).join('')} />`}
  </svg>`;
}
