import { isFlagged, type ScoreRecord } from '../../records/score-record.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import { type ScoreLineStyle, scoreLine } from './score-line.ts';

/** `flagged`: alarms, and every second the number of other scores. `anomalies`: what lies outside its interval. */
export type ScoreSelection = 'flagged' | 'anomalies' | 'all';

export interface ScoreViewOptions {
  readonly selection: ScoreSelection;
  readonly series: SeriesPattern;
  /** Print one JSON record a line. */
  readonly json: boolean;
  readonly style: ScoreLineStyle;
}

export class ScoreView {
  readonly #options: ScoreViewOptions;
  #scored = 0;
  #others = 0;
  #flagged = 0;

  constructor(options: ScoreViewOptions) {
    this.#options = options;
  }

  /** The line of a score; null if it is not shown. */
  show(score: ScoreRecord): string | null {
    const { selection, series, json, style } = this.#options;
    if (!series.test(score.series)) return null;
    if (score.state === 'scored') this.#scored++;
    else this.#others++;
    const flagged = isFlagged(score);
    if (flagged) this.#flagged++;
    const shown = selection === 'anomalies' ? score.anomaly : flagged;
    if (selection !== 'all' && !shown) return null;
    return json ? JSON.stringify(score) : scoreLine(score, style);
  }

  /** Counts since the last call, as a sentence; null if there was nothing, or every score is shown. */
  summary(): string | null {
    const [scored, others, flagged] = [this.#scored, this.#others, this.#flagged];
    this.#scored = this.#others = this.#flagged = 0;
    if (this.#options.selection !== 'flagged' || scored + others === 0) return null;
    const notYet = others === 0 ? '' : `, ${others} not judged yet`;
    return `  ${scored} scored, ${flagged} flagged${notYet}`;
  }
}
