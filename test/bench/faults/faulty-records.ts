/** Records of labelled series as they arrive: as the files have them, or with what goes wrong on the way. */
import type { SeriesInput } from '../detection/labelled-data.ts';

export const FAULTS = ['jitter', 'duplicates', 'reordering', 'outages', 'wrong-times'] as const;
export type FaultName = (typeof FAULTS)[number];

/** A record that is later than others of its series by so many steps is still put into order. */
export const LATENESS_STEPS = 3;

/** Of a step, either way. The first record of a series lies anywhere within half a step. */
const JITTER_STEPS = 0.2;
const DUPLICATED_SHARE = 0.02;
const DELAYED_SHARE = 0.05;
/** With jitter it stays within what is allowed. */
const DELAY_STEPS_MAX = LATENESS_STEPS - 2 * JITTER_STEPS - 0.1;
const OUTAGE_MS = 2 * 3_600_000;
/** One in so many rows; the next one at least as far away. */
const ROWS_PER_OUTAGE = 2_000;
const WRONG_TIME_SHARE = 0.002;
const WRONG_MS_MIN = 23 * 3_600_000;
/** Longer than what passes without confirmation. */
const WRONG_STEPS_MIN = 30;

/** A record of the input topic. */
export interface Arrival {
  readonly series: string;
  readonly group: string | null;
  readonly timestampMs: number;
  readonly value: number;
  /** Row that it is of; -1 where its time is wrong, and nothing is to be scored. */
  readonly row: number;
  /** Records arrive in this order. */
  readonly arrivesMs: number;
}

export interface FaultPlan {
  /** That of the series' frequency. The first two rows of a file may be further apart. */
  readonly stepMs: number;
  readonly faults: ReadonlySet<FaultName>;
  /** Rows that no fault takes, 1 each: nobody finds an incident that never arrives. */
  readonly kept: Uint8Array;
  readonly random: () => number;
}

/** How often each fault was put in. */
export type FaultCounts = Record<FaultName, number> & { lost: number };

/** All series begin here: records of years ago would be far behind the others of their partition. */
const BEGIN_MS = Date.UTC(2025, 0, 1);

/** Records of one series, or of the members of a group, in the order of the file. */
export function arrivalsOf(input: SeriesInput, plan: FaultPlan, counts: FaultCounts): Arrival[] {
  const { name, times, channels } = input;
  const { faults, kept, random, stepMs } = plan;
  const gone = faults.has('outages') ? outageRows(input, plan, counts) : new Uint8Array(times.length);
  const phase = faults.has('jitter') ? random() * stepMs : 0;
  const firstOff = faults.has('jitter') ? (random() - 0.5) * stepMs : 0;
  const arrivals: Arrival[] = [];
  let dueMs = 0;
  for (let row = 0; row < times.length; row++) {
    const offMs = row === 0 ? firstOff : 0;
    const truth = BEGIN_MS + times[row] - times[0] + phase + offMs;
    dueMs = Math.max(dueMs, truth);
    for (const [channel, values] of channels.entries()) {
      if (!Number.isFinite(values[row])) continue;
      if (gone[row] === 1) {
        counts.lost++;
        continue;
      }
      const hits = (fault: FaultName, share: number) => faults.has(fault) && random() < share && ++counts[fault] > 0;
      const jitterMs = hits('jitter', 1) ? (2 * random() - 1) * JITTER_STEPS * stepMs : 0;
      const isWrong = kept[row] === 0 && hits('wrong-times', WRONG_TIME_SHARE);
      const delayMs = hits('reordering', DELAYED_SHARE) ? random() * DELAY_STEPS_MAX * stepMs : 0;
      const rightMs = Math.round(truth + jitterMs);
      const arrival: Arrival = {
        series: channels.length === 1 ? name : `${name}/${channel}`,
        group: channels.length === 1 ? null : name,
        timestampMs: isWrong ? wrongTime(rightMs, stepMs, random) : rightMs,
        value: values[row],
        row: isWrong ? -1 : row,
        arrivesMs: dueMs + jitterMs + delayMs,
      };
      arrivals.push(arrival);
      if (hits('duplicates', DUPLICATED_SHARE)) {
        arrivals.push({ ...arrival, arrivesMs: arrival.arrivesMs + random() * stepMs });
      }
    }
  }
  return arrivals;
}

/** Rows without any record, each run two hours long. */
function outageRows({ times }: SeriesInput, { kept, random }: FaultPlan, counts: FaultCounts): Uint8Array {
  const gone = new Uint8Array(times.length);
  for (let begin = ROWS_PER_OUTAGE / 2; begin < times.length; begin += ROWS_PER_OUTAGE) {
    const start = begin + Math.floor((random() * ROWS_PER_OUTAGE) / 2);
    let end = start;
    while (end < times.length && times[end] < times[start] + OUTAGE_MS) end++;
    if (end >= times.length || kept.subarray(start, end).includes(1)) continue;
    gone.fill(1, start, end);
    counts.outages++;
  }
  return gone;
}

/** As often ahead as behind, up to ten times as far. */
function wrongTime(rightMs: number, stepMs: number, random: () => number): number {
  const leastMs = Math.max(WRONG_MS_MIN, WRONG_STEPS_MIN * stepMs);
  const byMs = Math.round(leastMs * 10 ** random());
  return random() < 0.5 ? rightMs + byMs : rightMs - byMs;
}

export function inOrder(arrivals: readonly Arrival[]): Arrival[] {
  return [...arrivals].sort((a, b) => a.arrivesMs - b.arrivesMs);
}
