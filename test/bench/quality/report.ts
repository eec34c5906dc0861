/** The measurements, as Markdown and as figures. */
import type { Figures } from '../bench.ts';
import type { TaskForecasts } from './forecasts.ts';
import { COVERED_LEVELS, competitionScores, fileScores, mean, meanRatio } from './scores.ts';
import type { QualityTask } from './tasks.ts';

/** The forecasts of a task by one method. The first of a list is the service's. */
export interface Entry {
  readonly name: string;
  /** Key of its figures; not used for the first entry. */
  readonly key: string;
  readonly forecasts: TaskForecasts;
}

export interface Report {
  readonly markdown: readonly string[];
  readonly figures: Figures;
}

export interface CompetitionTitle {
  readonly title: string;
  /** MASE of the method that won the competition, as published (Makridakis et al. 2020). */
  readonly winner: number;
}

/** A table of one collection of M4, and the number of series on which others are better. */
export function reportCompetition(
  task: QualityTask,
  entries: readonly Entry[],
  { title, winner }: CompetitionTitle,
): Report {
  const scored = entries.map(({ name, key, forecasts }) => ({ name, key, ...competitionScores(task, forecasts) }));
  const rows = scored.map(({ name, mase, wql, coverage }) => [
    name,
    number(mean(mase)),
    number(wql),
    ...percents(coverage),
  ]);
  const [ours, ...others] = scored;
  const better = others.flatMap(({ name, mase }) => {
    const count = mase.filter((error, i) => error < ours.mase[i]).length;
    return count === 0 ? [] : [`${name} on ${count}`];
  });
  return {
    markdown: [
      ...table(
        [`${title}: ${task.points.length} series, ${task.h} steps`, 'MASE', 'WQL', ...COVERAGE_COLUMNS],
        [...rows, ['winner of the competition (published)', number(winner), '', '', '', '']],
      ),
      '',
      `Of the ${task.points.length} series others have a smaller error: ${better.join(', ')}.`,
    ],
    figures: Object.assign(
      {},
      ...scored.map(({ key: own, mase, wql, coverage }, i) => {
        const key = i === 0 ? task.name : `${task.name}_${own}`;
        return {
          [`${key}_mase`]: rounded(mean(mase)),
          [`${key}_wql`]: rounded(wql),
          ...coverageFigures(key, coverage),
        };
      }),
    ),
  };
}

/** A table of NAB: errors relative to those of the naive forecasts, and the files where those are better. */
export function reportFiles(task: QualityTask, entries: readonly Entry[], naive: readonly Entry[]): Report {
  const scores = fileScores(task);
  const spans = [task.h, 1];
  const errors = new Map(
    [...entries, ...naive].map((entry) => [entry, spans.map((steps) => scores.errors(entry.forecasts, steps))]),
  );
  const ratiosOf = (entry: Entry) =>
    spans.flatMap((_, s) => naive.map((other) => meanRatio(errors.get(entry)![s], errors.get(other)![s])));
  const rows = entries.map((entry) => [
    entry.name,
    ...ratiosOf(entry).map(number),
    ...percents(scores.coverage(entry.forecasts, task.h)),
  ]);
  const columns = spans.flatMap((steps) => naive.map(({ name }) => `${stepsOf(steps)}, to ${name}`));
  const [ours] = entries;
  const lost = spans.flatMap((_, s) =>
    naive.map((other) => lostFiles(task, errors.get(ours)![s], errors.get(other)![s])),
  );
  const ratios = ratiosOf(ours);
  const firstStep = scores.coverage(ours.forecasts, 1);
  return {
    markdown: [
      ...table([`NAB: ${task.series.length} files, MAE as a ratio`, ...columns, ...COVERAGE_COLUMNS], rows),
      '',
      ...lost.map(
        (files, i) =>
          `- ${columns[i]}: ${files.length === 0 ? 'no file is lost' : `lost on ${files.length}`}${named(files)}.`,
      ),
      `- Coverage at the first of the ${task.h} steps: ${percents(firstStep).join(', ')}.`,
    ],
    figures: {
      nab_h24_mae_ratio: rounded(Math.max(...ratios.slice(0, naive.length))),
      nab_h1_mae_ratio: rounded(Math.max(...ratios.slice(naive.length))),
      ...Object.fromEntries(
        spans.flatMap((steps, s) =>
          naive.map(({ key }, i) => [`nab_h${steps}_${key}_mae_ratio`, rounded(ratios[s * naive.length + i])]),
        ),
      ),
      nab_h1_last_value_files_lost: lost[naive.length].length,
      ...coverageFigures('nab', scores.coverage(ours.forecasts, task.h)),
      ...coverageFigures('nab_h1', firstStep),
    },
  };
}

const COVERAGE_COLUMNS = COVERED_LEVELS.map((level) => `coverage at ${level} %`);
/** Names of lost files, the worst first. */
const NAMED_MAX = 12;

interface LostFile {
  readonly name: string;
  readonly ratio: number;
}

function lostFiles({ series }: QualityTask, ours: readonly number[], theirs: readonly number[]): LostFile[] {
  const files = series.map(({ name }, s) => ({ name: name.replace(/^.*\/|\.csv$/g, ''), ratio: ours[s] / theirs[s] }));
  return files.filter(({ ratio }) => ratio > 1).sort((a, b) => b.ratio - a.ratio);
}

function named(files: readonly LostFile[]): string {
  if (files.length === 0) return '';
  const more = files.length > NAMED_MAX ? ', ...' : '';
  return ` (${files
    .slice(0, NAMED_MAX)
    .map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`)
    .join(', ')}${more})`;
}

function stepsOf(steps: number): string {
  return steps === 1 ? 'one step' : `${steps} steps`;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function number(value: number): string {
  return value.toFixed(3);
}

function percents(shares: readonly number[] | null): string[] {
  return COVERED_LEVELS.map((_, i) => (shares === null ? '' : `${(100 * shares[i]).toFixed(1)} %`));
}

function coverageFigures(key: string, shares: readonly number[] | null): Figures {
  return Object.fromEntries(shares?.map((share, i) => [`${key}_coverage_${COVERED_LEVELS[i]}`, rounded(share)]) ?? []);
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
