/** Alarms as a person meets them: how many there are, how many are false, and whether that is what was promised. */
import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { median, percentile, type Segment } from './event-segments.ts';
import { isReported, type LabelledInput } from './labelled-data.ts';
import { zonesOf } from './metrics-alarms.ts';
import { judge, type Verdicts } from './product.ts';

/** False alarms in 1,000 rows that are promised. */
const PROMISES = [10, 1];
/** Alarms without a gap of as many rows are one episode. */
const EPISODE_GAP = 24;
/** Before the first calibration was whole there were no alarms, up to this row. */
const FIRST_ROWS = 160;
const DAY_MS = 86_400_000;

/** What became of one series, without its warm-up. */
export interface AlarmRecord {
  readonly reported: boolean;
  /** Judged rows outside of incidents, and how many of them are alarms. */
  readonly normalRows: number;
  readonly falseRows: number;
  readonly days: number;
  readonly episodes: number;
  /** Of them, those in which no row belongs to an incident. */
  readonly falseEpisodes: number;
  /** For each incident the rows from its start to the first alarm; null where there was none. */
  readonly delays: readonly (number | null)[];
  /** Alarms of the file's first rows outside of incidents. */
  readonly firstFalseRows: number;
}

/** @param verdicts of the default settings */
export async function promiseFigures(
  inputs: readonly LabelledInput[],
  verdicts: readonly Verdicts[],
): Promise<Figures> {
  const rows: Cell[][] = [];
  let figures: Figures = {};
  for (const promise of PROMISES) {
    const judged = await judge(inputs, promise);
    const records = inputs.map((input, i) => alarmRecord(input, judged.verdicts[i]));
    for (const [set, of] of halves(records)) {
      const ratios = of.map(({ normalRows, falseRows }) => falseRows / ((normalRows * promise) / 1_000));
      const seen = (1_000 * sumOf(of, 'falseRows')) / sumOf(of, 'normalRows');
      const episodes = (1_000 * sumOf(of, 'falseEpisodes')) / sumOf(of, 'normalRows');
      const factors = ratios.map((ratio) => Math.max(ratio, 1 / ratio));
      const [middle, high] = [median(ratios), percentile(ratios, 90)];
      rows.push([promise, set, seen, episodes, middle, high, median(factors), percentile(factors, 90)]);
      if (promise === 10 && set === 'reported') {
        figures = { promise_median: rounded(middle), promise_p90: rounded(high) };
      }
    }
  }
  printTable(
    'false alarms in 1,000 rows outside of incidents; by series seen over promised, and the factor either way',
    ['promised', 'series', 'seen', 'episodes', 'median', 'p90', 'factor median', 'factor p90'],
    rows,
  );
  return { ...figures, ...episodeFigures(inputs, verdicts) };
}

function episodeFigures(inputs: readonly LabelledInput[], verdicts: readonly Verdicts[]): Figures {
  const records = inputs.map((input, i) => alarmRecord(input, verdicts[i]));
  let figures: Figures = {};
  const rows = halves(records).map(([set, of]): Cell[] => {
    const [days, episodes, falseEpisodes] = [sumOf(of, 'days'), sumOf(of, 'episodes'), sumOf(of, 'falseEpisodes')];
    const delays = of.flatMap((record) => record.delays);
    const found = delays.filter((delay) => delay !== null);
    const precision = 1 - falseEpisodes / episodes;
    const first = sumOf(of, 'firstFalseRows') / of.length;
    if (set === 'reported') {
      figures = {
        episodes_per_day: rounded(episodes / days),
        episode_precision: rounded(precision),
        median_delay: rounded(median(found)),
        episode_recall: rounded(found.length / delays.length),
        first_rows_false_alarms: rounded(first),
      };
    }
    const recall = found.length / delays.length;
    return [set, episodes / days, falseEpisodes / days, precision, recall, median(found), first];
  });
  printTable(
    'alarms with the default settings',
    [
      ...['series', 'episodes a day and series', 'of them false', 'precision', 'recall', 'median delay'],
      `false alarms of the first ${FIRST_ROWS} rows`,
    ],
    rows,
  );
  return figures;
}

export function alarmRecord(input: LabelledInput, { alarm, grade }: Verdicts): AlarmRecord {
  const { labels, split, stepMs } = input;
  const alarms = alarm.subarray(split);
  const zones = zonesOf(labels.subarray(split), labels.length);
  const inZone = new Uint8Array(alarms.length);
  for (const { rows } of zones) inZone.fill(1, rows.start, rows.end);
  const isNormal = (row: number) => inZone[row] === 0 && Number.isFinite(grade[split + row]);
  const normal = Array.from(alarms.keys()).filter(isNormal);
  const episodes = episodesOf(alarms);
  return {
    reported: isReported(input),
    normalRows: normal.length,
    falseRows: normal.filter((row) => alarms[row] === 1).length,
    days: (alarms.length * stepMs) / DAY_MS,
    episodes: episodes.length,
    falseEpisodes: episodes.filter(({ start, end }) => !inZone.subarray(start, end).includes(1)).length,
    delays: zones.map(({ event, rows }) => {
      const first = alarms.subarray(rows.start, rows.end).indexOf(1);
      return first < 0 ? null : Math.max(0, rows.start + first - event.start);
    }),
    firstFalseRows: alarm.subarray(0, FIRST_ROWS).filter((flag, row) => flag === 1 && labels[row] === 0).length,
  };
}

/** From the first to the last alarm of each. */
export function episodesOf(alarms: Uint8Array): Segment[] {
  const episodes: { start: number; end: number }[] = [];
  alarms.forEach((flag, row) => {
    if (flag === 0) return;
    const last = episodes.at(-1);
    if (last !== undefined && row - last.end < EPISODE_GAP) last.end = row + 1;
    else episodes.push({ start: row, end: row + 1 });
  });
  return episodes;
}

function halves(records: readonly AlarmRecord[]): [string, readonly AlarmRecord[]][] {
  return [
    ['chosen on', records.filter(({ reported }) => !reported)],
    ['reported', records.filter(({ reported }) => reported)],
    ['all', records],
  ];
}

type Count = 'normalRows' | 'falseRows' | 'days' | 'episodes' | 'falseEpisodes' | 'firstFalseRows';

function sumOf(records: readonly AlarmRecord[], key: Count): number {
  return records.reduce((sum, record) => sum + record[key], 0);
}
