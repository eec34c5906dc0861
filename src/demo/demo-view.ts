import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { DeadLetter } from '../records/dead-letter.ts';
import { isFlagged, isSilence, type ScoreRecord } from '../records/score-record.ts';
import { eventLine } from '../tools/terminal/event-text.ts';
import { printable, type ScoreLineStyle, scoreLine, scoreLineHeader } from '../tools/terminal/score-line.ts';
import { DEMO_PLAN, STEPS_PER_HOUR, stepAt, timeOf } from './demo-plan.ts';
import { DEMO_SERIES, incidentOf } from './demo-series.ts';
import { faultOf } from './faults.ts';

/** Lines of flagged scores shown of the history, one a series. */
const HISTORY_LINES_MAX = 8;
const PROGRESS_MS = 1_000;
/** Time between the scores shown that are not flagged: a sample, each series in turn. */
const SAMPLE_MS = 2_000;

/** On a terminal a new line of progress overwrites the previous one. */
const OVERWRITE = '\u001b[1A\u001b[2K';

interface DemoViewOptions {
  /** Series whose scores are expected. */
  readonly covered: ReadonlySet<string>;
  /** First live step; earlier steps are history. */
  readonly liveStart: number;
  /** Expected scores of the history; 0 when all of it is scored already. */
  readonly historyScores: number;
  readonly style: ScoreLineStyle;
}

/** A dead letter, as far as it is shown. Its record holds more. */
export type SeenLetter = Pick<DeadLetter, 'reason' | 'detail' | 'series'>;

/**
 * What `start` shows: first the progress of the history, then every flagged score and a sample of the others, the begin
 * and the end of events, and refused records, each with what the demo did to its series.
 */
export class DemoView {
  readonly #options: DemoViewOptions;
  /** Series whose history is not scored completely. */
  readonly #behind: Set<string>;
  readonly #lastFlagged = new Map<string, ScoreRecord>();
  #scored = 0;
  #flagged = 0;
  #nextProgressMs = 0;
  #progressShown = false;
  #nextSampleMs = 0;
  #shown = 0;
  readonly #shownAt = new Map<string, number>();

  constructor(options: DemoViewOptions) {
    this.#options = options;
    this.#behind = new Set(options.historyScores > 0 ? options.covered : []);
  }

  get live(): boolean {
    return this.#behind.size === 0;
  }

  get header(): readonly string[] {
    return ['', scoreLineHeader(this.#options.style)];
  }

  scoreLines(scores: readonly ScoreRecord[], nowMs: number): string[] {
    return this.live ? this.#showLive(scores, nowMs) : this.#countHistory(scores, nowMs);
  }

  /** Lines of live events, as they are opened and closed. */
  eventLines(events: readonly AnomalyEvent[]): string[] {
    const liveMs = timeOf(this.#options.liveStart);
    const shown = events.filter(({ type, updatedAtMs }) => this.live && type !== 'updated' && updatedAtMs >= liveMs);
    return shown.map((event) => {
      const ids = event.series === null ? event.members.map(({ series }) => series) : [event.series];
      const causes = ids.flatMap((series) => causeOf({ series, timestampMs: event.firstAlarmAtMs }) ?? []);
      return `${eventLine(event, this.#options.style)}  <- ${causes[0] ?? 'nothing: a false alarm'}`;
    });
  }

  letterLines(letters: readonly SeenLetter[]): string[] {
    const { covered, style } = this.#options;
    const shown = letters.filter(({ series }) => this.live && series !== null && covered.has(series));
    return shown.map(({ series, reason, detail }) => {
      const id = printable(series ?? '').padEnd(style.seriesWidth);
      return `  ${''.padEnd(19)}  refused  ${id}  ${reason}: ${printable(detail)}  <- wrong time`;
    });
  }

  #countHistory(scores: readonly ScoreRecord[], nowMs: number): string[] {
    const { covered, liveStart, historyScores } = this.#options;
    const historyEndMs = timeOf(liveStart);
    for (const score of scores) {
      if (!covered.has(score.series) || isSilence(score)) continue;
      if (score.timestampMs >= timeOf(liveStart - 1)) this.#behind.delete(score.series);
      if (score.timestampMs >= historyEndMs) continue;
      this.#scored++;
      if (isFlagged(score)) this.#keepFlagged(score);
    }
    if (this.live) {
      const counts = `${counted(this.#scored)} observations, ${counted(this.#flagged)} flagged`;
      const sum = `History of ${covered.size} series scored: ${counts}`;
      const flagged = [...this.#lastFlagged.values()].sort((a, b) => a.timestampMs - b.timestampMs);
      const last = flagged.slice(-HISTORY_LINES_MAX).map((score) => this.#flaggedLine(score));
      const lines = [last.length === 0 ? `${sum}.` : `${sum}, lately:`, ...this.header, ...last];
      return this.#inPlaceOfProgress(lines);
    }
    if (nowMs < this.#nextProgressMs) return [];
    this.#nextProgressMs = nowMs + PROGRESS_MS;
    const line = `Scoring the history: ${counted(this.#scored)} of ${counted(historyScores)} observations`;
    return this.#inPlaceOfProgress([line]);
  }

  #flaggedLine(score: ScoreRecord): string {
    const [line, cause] = [scoreLine(score, this.#options.style), causeOf(score)];
    return cause === null ? line : `${line}  ${cause}`;
  }

  #keepFlagged(score: ScoreRecord): void {
    this.#flagged++;
    const kept = this.#lastFlagged.get(score.series);
    if (kept === undefined || kept.timestampMs < score.timestampMs) this.#lastFlagged.set(score.series, score);
  }

  #inPlaceOfProgress([first = '', ...rest]: readonly string[]): string[] {
    const overwrite = this.#options.style.colour && this.#progressShown;
    this.#progressShown = true;
    return [overwrite ? `${OVERWRITE}${first}` : first, ...rest];
  }

  #showLive(scores: readonly ScoreRecord[], nowMs: number): string[] {
    const flagged = scores.filter(isFlagged).map((score) => this.#flaggedLine(score));
    const sample = nowMs < this.#nextSampleMs ? null : this.#leastShown(scores);
    if (sample === null) return flagged;
    this.#nextSampleMs = nowMs + SAMPLE_MS;
    this.#shownAt.set(sample.series, ++this.#shown);
    return [...flagged, scoreLine(sample, this.#options.style)];
  }

  #leastShown(scores: readonly ScoreRecord[]): ScoreRecord | null {
    const shownAt = ({ series }: ScoreRecord) => this.#shownAt.get(series) ?? 0;
    const normal = scores.filter((score) => !isFlagged(score));
    return normal.reduce<ScoreRecord | null>(
      (least, score) => (least === null || shownAt(score) < shownAt(least) ? score : least),
      null,
    );
  }
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

/** The end of an incident is as abrupt as its start: forecasts made during it expect it to continue. */
const AFTERMATH_STEPS = 4 * STEPS_PER_HOUR;

const seriesById = new Map(DEMO_SERIES.map((series) => [series.id, series]));

/** The incident, or fault, that explains a flag; null if there is none and the flag is a false alarm. */
function causeOf({ series, timestampMs }: { readonly series: string; readonly timestampMs: number }) {
  const step = stepAt(timestampMs);
  for (let back = 0; back <= AFTERMATH_STEPS; back++) {
    const cause = doneAt(series, step - back);
    if (cause !== null) return back === 0 ? cause : `after: ${cause}`;
  }
  return null;
}

function doneAt(id: string, step: number): string | null {
  const series = seriesById.get(id);
  if (series === undefined) return null;
  const incident = incidentOf(series, step);
  return incident === null ? (faultOf(id, step)?.cause ?? null) : DEMO_PLAN.incidents[incident.kind].cause;
}
