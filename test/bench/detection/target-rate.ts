/** Alarm episodes: how many there are, how many are false, and whether that is the target rate. */
import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { median, type Segment, segmentsOf } from './event-segments.ts';
import { isReported, type LabelledInput } from './labelled-data.ts';
import { zonesOf } from './metrics-alarms.ts';
import { judge, type Verdicts } from './product.ts';

/** Target rates: false alarm episodes in 1,000 rows. The last two are about one a week and one a month of minutes. */
const TARGETS = [10, 3, 1, 0.3, 0.1, 0.023];
/** Alarms without a gap of as many rows are one episode: the default detection size. */
const EPISODE_GAP = 24;
/** An episode that begins so many rows before an incident or behind its end is not false. */
const BEFORE_ROWS = 24;
const BEHIND_ROWS = 48;
const DAY_MS = 86_400_000;
/** Of the name of a group without its warm-up, in which incidents of most sources are not labelled. */
const LABELLED_PART = ', behind its warm-up';

/** What became of one whole file, the rows in which the detector is still learning included. */
export interface AlarmRecord {
  readonly name: string;
  /** Judged rows that are not close to an incident. */
  readonly normalRows: number;
  readonly days: number;
  readonly episodes: number;
  /** Of them, those that begin in normal rows. */
  readonly falseEpisodes: number;
  /** For each incident the rows from its start to the first alarm; null where there was none. */
  readonly delays: readonly (number | null)[];
}

export async function targetRateFigures(
  series: readonly LabelledInput[],
  groups: readonly LabelledInput[],
): Promise<Figures> {
  const inputs = [...series, ...groups];
  const rows: Cell[][] = [];
  const figures: Record<string, number> = {};
  for (const target of TARGETS) {
    for (const [set, records] of setsOf(await recordsAt(inputs, target))) {
      const measured = measuredRate(records);
      rows.push([target, set, measured, recallOf(records), precisionOf(records)]);
      if (set === 'reported') figures[`promise_seen_${target}`] = rounded(measured);
    }
  }
  printTable(
    'false alarms in 1,000 rows: episodes that begin outside of [start - 24, end + 48) of an incident; whole files',
    ['target', 'series', 'measured', 'recall', 'precision'],
    rows,
  );
  return { ...figures, ...episodeFigures(await recordsAt(inputs, null)) };
}

async function recordsAt(inputs: readonly LabelledInput[], target: number | null): Promise<AlarmRecord[]> {
  const verdicts = await judge(inputs, target);
  return inputs.flatMap((input, i) => {
    const whole = alarmRecord(input, verdicts[i]);
    return input.channels.length === 1 ? [whole] : [whole, alarmRecord(...labelledPart(input, verdicts[i]))];
  });
}

function labelledPart(input: LabelledInput, { alarm, grade, ...verdicts }: Verdicts): [LabelledInput, Verdicts] {
  const { name, labels, split } = input;
  return [
    { ...input, name: `${name}${LABELLED_PART}`, labels: labels.subarray(split) },
    { ...verdicts, alarm: alarm.subarray(split), grade: grade.subarray(split) },
  ];
}

function measuredRate(records: readonly AlarmRecord[]): number {
  return (1_000 * sumOf(records, 'falseEpisodes')) / sumOf(records, 'normalRows');
}

function episodeFigures(records: readonly AlarmRecord[]): Figures {
  let figures: Figures = {};
  const rows = setsOf(records).map(([set, of]): Cell[] => {
    const days = sumOf(of, 'days');
    const daily = sumOf(of, 'episodes') / days;
    const delay = median(of.flatMap(({ delays }) => delays).filter((each) => each !== null));
    if (set === 'reported') {
      figures = {
        episodes_per_day: rounded(daily),
        false_episodes_per_day: rounded(sumOf(of, 'falseEpisodes') / days),
        episode_precision: rounded(precisionOf(of)),
        median_delay: rounded(delay),
        episode_recall: rounded(recallOf(of)),
      };
    }
    return [set, daily, sumOf(of, 'falseEpisodes') / days, precisionOf(of), recallOf(of), delay];
  });
  printTable(
    'alarm episodes with the default target, whole files',
    ['series', 'a day and series', 'of them false', 'precision', 'recall', 'median delay'],
    rows,
  );
  return figures;
}

export function alarmRecord(input: LabelledInput, { alarm, grade }: Verdicts): AlarmRecord {
  const { name, labels, stepMs } = input;
  const normal = Uint8Array.from(grade, (each) => (Number.isFinite(each) ? 1 : 0));
  for (const { start, end } of segmentsOf(labels)) normal.fill(0, Math.max(0, start - BEFORE_ROWS), end + BEHIND_ROWS);
  const episodes = episodesOf(alarm);
  const falseOnes = episodes.filter(({ start }) => normal[start] === 1);
  return {
    name,
    normalRows: normal.reduce((sum, each) => sum + each, 0),
    days: (alarm.length * stepMs) / DAY_MS,
    episodes: episodes.length,
    falseEpisodes: falseOnes.length,
    delays: zonesOf(labels, labels.length).map(({ event, rows }) => {
      const first = alarm.subarray(rows.start, rows.end).indexOf(1);
      return first < 0 ? null : Math.max(0, rows.start + first - event.start);
    }),
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

function setsOf(records: readonly AlarmRecord[]): (readonly [string, readonly AlarmRecord[]])[] {
  const series = records.filter(({ name }) => name.startsWith('s'));
  const groups = records.filter(({ name }) => name.startsWith('g'));
  const isPart = ({ name }: AlarmRecord) => name.endsWith(LABELLED_PART);
  const sets = [
    ['chosen on', series.filter((record) => !isReported(record))],
    ['reported', series.filter(isReported)],
    ['all', series],
    ['groups', groups.filter((record) => !isPart(record))],
    [`groups${LABELLED_PART}`, groups.filter(isPart)],
  ] as const;
  return sets.filter(([, of]) => of.length > 0);
}

function recallOf(records: readonly AlarmRecord[]): number {
  const delays = records.flatMap((record) => record.delays);
  return delays.filter((delay) => delay !== null).length / delays.length;
}

function precisionOf(records: readonly AlarmRecord[]): number {
  return 1 - sumOf(records, 'falseEpisodes') / sumOf(records, 'episodes');
}

type Count = 'normalRows' | 'days' | 'episodes' | 'falseEpisodes';

function sumOf(records: readonly AlarmRecord[], key: Count): number {
  return records.reduce((sum, record) => sum + record[key], 0);
}
