import type { DeadLetter } from '../records/dead-letter.ts';
import { isSilence, type ScoreRecord } from '../records/score-record.ts';
import { formatTime, printable, type ScoreLineStyle } from '../tools/terminal/score-line.ts';
import { flaggedLine } from './demo-cause.ts';
import { stepAt, timeOf } from './demo-time.ts';
import { outageBefore, stepOfSent } from './faults.ts';

/** What there is to know of a dead letter. Its record holds more. */
export type SeenLetter = Pick<DeadLetter, 'reason' | 'detail' | 'series'> & { readonly value: string | null };

interface DemoFaultsOptions {
  /** Series whose scores are expected. */
  readonly covered: ReadonlySet<string>;
  /** First live step; earlier ones are history. */
  readonly liveStart: number;
  readonly style: ScoreLineStyle;
}

/**
 * What `start` shows of the demo's faulty records: what was refused, how the series are judged after an outage, and of
 * the history the series that stopped.
 */
export class DemoFaults {
  readonly #options: DemoFaultsOptions;
  /** Series and states of the scores after each outage, by its end. */
  readonly #after = new Map<number, Map<string, string>>();
  /** Lines that wait until the live scores run, with their times. */
  #held: { readonly timeMs: number; readonly line: string }[] = [];

  constructor(options: DemoFaultsOptions) {
    this.#options = options;
  }

  /** Lines to print; none until the live scores run. */
  takeScores(scores: readonly ScoreRecord[], isLive: boolean): string[] {
    const { covered, liveStart, style } = this.#options;
    const lines: string[] = [];
    for (const score of scores) {
      if (!covered.has(score.series)) continue;
      const { series, timestampMs, state } = score;
      // Live ones stand among the scores.
      if (isSilence(score) && timestampMs < timeOf(liveStart)) this.#hold(timestampMs, flaggedLine(score, style));
      else if (!isSilence(score)) lines.push(...this.#scoredAfter(series, stepAt(timestampMs), state));
    }
    return this.#shownOrHeld(lines, scores.at(-1)?.timestampMs ?? 0, isLive);
  }

  takeLetters(letters: readonly SeenLetter[], isLive: boolean): string[] {
    return letters.flatMap((letter) => {
      const { series, reason, detail } = letter;
      if (series === null || !this.#options.covered.has(series)) return [];
      const sentMs = timeOfLetter(letter);
      const line = `${this.#columns(sentMs, 'refused', series)}  ${reason}: ${printable(detail)}  <- wrong time`;
      return this.#shownOrHeld([line], sentMs, isLive);
    });
  }

  /** What was held, once, when the live scores run. */
  release(isLive: boolean): string[] {
    if (!isLive || this.#held.length === 0) return [];
    const lines = this.#held.splice(0).sort((a, b) => a.timeMs - b.timeMs);
    return ['What became of faulty records in the history:', ...lines.map(({ line }) => line)];
  }

  #scoredAfter(series: string, step: number, state: string): string[] {
    const outage = outageBefore(step);
    if (outage === null) return [];
    const { covered } = this.#options;
    const states = this.#after.get(step) ?? new Map<string, string>();
    this.#after.set(step, states.set(series, state));
    if (states.size < covered.size) return [];
    this.#after.delete(step);
    const judged = [...states.values()].filter((one) => one === 'scored').length;
    const steps = outage.end - outage.start;
    const text = `no record for ${steps} steps; ${judged} of ${covered.size} series are judged by their first value`;
    return [`${this.#columns(timeOf(step), 'outage', 'every series')}  ${text}`];
  }

  #columns(timeMs: number, what: string, series: string): string {
    const { seriesWidth } = this.#options.style;
    return `  ${formatTime(timeMs)}  ${what.padEnd(7)}  ${printable(series).padEnd(seriesWidth)}`;
  }

  #shownOrHeld(lines: readonly string[], timeMs: number, isLive: boolean): string[] {
    if (isLive) return [...lines];
    for (const line of lines) this.#hold(timeMs, line);
    return [];
  }

  #hold(timeMs: number, line: string): void {
    this.#held.push({ timeMs, line });
  }
}

/** When the record was due. */
function timeOfLetter({ value }: SeenLetter): number {
  const { timestamp } = JSON.parse(Buffer.from(value ?? '', 'base64').toString());
  return timeOf(stepOfSent(timestamp));
}
