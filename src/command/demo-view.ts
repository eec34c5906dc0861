import { DEMO_SERIES, incidentOf } from '../stream/demo/demo-series.ts';
import { STEPS_PER_HOUR, stepAt, timeOf } from '../stream/demo/demo-time.ts';
import type { IncidentKind } from '../stream/demo/incidents.ts';
import type { ScoreRecord } from '../stream/record/score-record.ts';
import { type ScoreLineStyle, scoreLine, scoreLineHeader } from './score-line.ts';

/** Series whose last flagged score in the history is shown. */
const HISTORY_LINES_MAX = 8;
const PROGRESS_MS = 1_000;
/** From one score that was not flagged to the next that is shown: a sample, each series in turn. */
const SAMPLE_MS = 2_000;
/** The end of an incident is as abrupt as its beginning: forecasts made until then expect it to go on. */
const AFTERMATH_STEPS = 4 * STEPS_PER_HOUR;

/** On a terminal the next line of progress takes the place of the last one. */
const OVERWRITE = '\u001b[1A\u001b[2K';

const seriesById = new Map(DEMO_SERIES.map((series) => [series.id, series]));

export interface DemoViewOptions {
  /** The series whose scores are awaited. */
  readonly covered: ReadonlySet<string>;
  /** Steps before it are history. */
  readonly liveStart: number;
  /** Scores of the history that will come; 0 when all of it is scored already. */
  readonly historyScores: number;
  readonly style: ScoreLineStyle;
}

/** What the command start shows of the scores: first how the history goes, then every flagged one and now and then another. */
export class DemoView {
  readonly #options: DemoViewOptions;
  /** Series whose history is not scored to its end. */
  readonly #behind: Set<string>;
  /** Newest flagged score of each series. */
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

  /** What goes above the first scores. */
  get header(): readonly string[] {
    return ['', scoreLineHeader(this.#options.style)];
  }

  /** The lines that these scores give rise to. */
  take(scores: readonly ScoreRecord[], nowMs: number): string[] {
    return this.live ? this.#showLive(scores, nowMs) : this.#countHistory(scores, nowMs);
  }

  #countHistory(scores: readonly ScoreRecord[], nowMs: number): string[] {
    const { covered, liveStart, historyScores, style } = this.#options;
    const historyEndMs = timeOf(liveStart);
    for (const score of scores) {
      if (!covered.has(score.series)) continue;
      if (score.timestampMs >= timeOf(liveStart - 1)) this.#behind.delete(score.series);
      if (score.timestampMs >= historyEndMs) continue;
      this.#scored++;
      if (score.anomaly) this.#keepFlagged(score);
    }
    if (this.live) {
      const sum = `History of ${covered.size} series scored: ${counted(this.#scored)} observations, ${counted(this.#flagged)} flagged`;
      const flagged = [...this.#lastFlagged.values()].sort((a, b) => a.timestampMs - b.timestampMs);
      const last = flagged.slice(-HISTORY_LINES_MAX).map((score) => flaggedLine(score, style));
      const lines = [last.length === 0 ? `${sum}.` : `${sum}, lately:`, ...this.header, ...last];
      return this.#inPlaceOfProgress(lines);
    }
    if (nowMs < this.#nextProgressMs) return [];
    this.#nextProgressMs = nowMs + PROGRESS_MS;
    const line = `Scoring the history: ${counted(this.#scored)} of ${counted(historyScores)} observations`;
    return this.#inPlaceOfProgress([line]);
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
    const { style } = this.#options;
    const flagged = scores.filter(({ anomaly }) => anomaly).map((score) => flaggedLine(score, style));
    const sample = nowMs < this.#nextSampleMs ? null : this.#leastShown(scores);
    if (sample === null) return flagged;
    this.#nextSampleMs = nowMs + SAMPLE_MS;
    this.#shownAt.set(sample.series, ++this.#shown);
    return [...flagged, scoreLine(sample, style)];
  }

  #leastShown(scores: readonly ScoreRecord[]): ScoreRecord | null {
    const shownAt = ({ series }: ScoreRecord) => this.#shownAt.get(series) ?? 0;
    const normal = scores.filter(({ anomaly }) => !anomaly);
    return normal.reduce<ScoreRecord | null>(
      (least, score) => (least === null || shownAt(score) < shownAt(least) ? score : least),
      null,
    );
  }
}

function flaggedLine(score: ScoreRecord, style: ScoreLineStyle): string {
  const cause = causeOf(score);
  return cause === null ? scoreLine(score, style) : `${scoreLine(score, style)}  ${cause}`;
}

/** What the demo has done to the series; null where it has done nothing, and the flag is a false one. */
export function causeOf({ series: id, timestampMs }: Pick<ScoreRecord, 'series' | 'timestampMs'>): string | null {
  const series = seriesById.get(id);
  if (series === undefined) return null;
  const step = stepAt(timestampMs);
  const during = incidentOf(series, step);
  if (during !== null) return CAUSES[during.kind];
  for (let back = 1; back <= AFTERMATH_STEPS; back++) {
    const before = incidentOf(series, step - back);
    if (before !== null) return `after: ${CAUSES[before.kind]}`;
  }
  return null;
}

const CAUSES: Readonly<Record<IncidentKind, string>> = {
  spike: 'spike',
  'level-shift': 'level shift',
  drift: 'drift',
  stuck: 'stuck value',
  'dropped-season': 'lost season',
  burst: 'burst',
};

function counted(count: number): string {
  return count.toLocaleString('en-US');
}
