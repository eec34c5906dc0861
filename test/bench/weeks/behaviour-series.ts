/** How metrics behave and misbehave: three weeks at 5 minutes, an incident in the third. */
import { RandomNumbers } from './random-numbers.ts';
import { DAY_MS, SPRING_MS, type WeekSeries } from './season-series.ts';

const STEP_MS = 300_000;
const DAY_ROWS = DAY_MS / STEP_MS;
const ROWS = 21 * DAY_ROWS;
/** Tuesday of the third week. */
const BEGIN = 15 * DAY_ROWS + 130;

interface Behaviour {
  /** Rows of the incident; 0 where there is none. */
  readonly rows: number;
  values(random: RandomNumbers): Float64Array;
}

const column = (valueAt: (row: number) => number) => Float64Array.from({ length: ROWS }, (_, row) => valueAt(row));
/** Whether the incident has begun, and not lasted so many rows yet. */
const during = (row: number, rows = Number.POSITIVE_INFINITY) => row >= BEGIN && row < BEGIN + rows;
const wave = (row: number) => Math.sin(2 * Math.PI * (row / DAY_ROWS - 9 / 24));

/** A daily season of 100 +- 40, with noise of 3. */
function daily(random: RandomNumbers, noise = 3): Float64Array {
  return column((row) => 100 + 40 * wave(row) + noise * random.normal());
}

/** A daily season that an incident changes. */
function changed(rows: number, change: (value: number, row: number, values: Float64Array) => number): Behaviour {
  return {
    rows,
    values(random) {
      const values = daily(random);
      return values.map((value, row) => (during(row) ? change(value, row - BEGIN, values) : value));
    },
  };
}

function drift(rows: number): Behaviour {
  return changed(rows + 12, (value, since) => value + Math.min(30, (30 * since) / rows));
}

function stuck(rows: number): Behaviour {
  return changed(rows + 2, (value, since, values) => (since < rows ? values[BEGIN] : value));
}

function hourlyJob(rows: number, level: (random: RandomNumbers) => number): Behaviour {
  return {
    rows: rows + 1,
    values: (random) =>
      column((row) => {
        const idle = 1 + Math.abs(0.5 * random.normal());
        return during(row, rows) ? level(random) : row % 12 < 3 ? idle + 50 : idle;
      }),
  };
}

/** A counter of a rate; `resets` are rows at which it begins at 0. */
function counter(rows: number, resets: readonly number[], share: (row: number) => number): Behaviour {
  return {
    rows,
    values(random) {
      const rates = daily(random);
      let count = 0;
      return column((row) => {
        if (resets.includes(row)) count = 0;
        count += Math.max(1, rates[row]) * share(row) * 300;
        return count;
      });
    },
  };
}

/** Rows that are left out are NaN. */
const missing = (isMissing: (row: number, random: RandomNumbers) => boolean, rows = 0): Behaviour => ({
  rows,
  values: (random) => daily(random).map((value, row) => (isMissing(row, random) ? Number.NaN : value)),
});

export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  drift30_36rows: drift(36),
  drift30_72rows: drift(72),
  drift30_144rows: drift(144),
  drift30_288rows: drift(288),
  drift30_864rows: drift(864),
  disk_fills_5d: {
    rows: ROWS - BEGIN,
    values: (random) =>
      column((row) => {
        const filled = during(row) ? Math.min(30, (30 * (row - BEGIN)) / (5 * DAY_ROWS)) : 0;
        return 60 + 8 * wave(row) + random.normal() + filled;
      }),
  },
  stuck_48: stuck(48),
  stuck_8: stuck(8),
  counter_resets: counter(2, [5 * DAY_ROWS + 40, 9 * DAY_ROWS + 200, BEGIN], () => 1),
  counter_slows_80pct: counter(38, [], (row) => (during(row, 36) ? 0.2 : 1)),
  sparse_counts_burst: {
    rows: 13,
    values: (random) => column((row) => random.poisson(0.15) + (during(row, 12) ? random.poisson(4) : 0)),
  },
  counts_to_zero_2h: {
    rows: 25,
    values: (random) => column((row) => (during(row, 24) ? 0 : random.poisson(3 * (1 + 0.8 * wave(row))))),
  },
  cron_hourly_misses_2: hourlyJob(24, (random) => 1 + Math.abs(0.5 * random.normal())),
  cron_hourly_hangs: hourlyJob(12, () => 51),
  availability_drops_3: {
    rows: 13,
    values: (random) => column((row) => 100 - 0.3 * Math.abs(random.normal()) - (during(row, 12) ? 3 : 0)),
  },
  cpu_saturates_2h: {
    rows: 25,
    values: (random) =>
      daily(random, 0).map((value, row) => {
        return during(row, 24) ? 100 : Math.min(100, Math.max(0, 0.6 * value + 2 * random.normal()));
      }),
  },
  lognormal_latency_x4_2h: {
    rows: 25,
    values: (random) => column((row) => Math.exp(1 + 0.9 * random.normal()) * (during(row, 24) ? 4 : 1)),
  },
  pareto_latency_x2_2h: {
    rows: 25,
    values: (random) => column((row) => 20 * (1 + random.pareto(2.5)) * (during(row, 24) ? 2 : 1)),
  },
  deploy_shift_down40: changed(24, (value) => 0.6 * value),
  deploy_shift_down10: changed(24, (value) => 0.9 * value),
  gap3h: missing((row) => during(row, 36) || (row >= 10 * DAY_ROWS && row < 10 * DAY_ROWS + 100), 60),
  noise_x10_4h: {
    rows: 48,
    values(random) {
      let wander = 0;
      return daily(random).map((value, row) => {
        wander = 0.95 * wander + random.normal();
        return value + 3 * wander + (during(row, 48) ? 30 * random.normal() : 0);
      });
    },
  },
  clean_missing10pct: missing((_, random) => random.uniform() < 0.1),
  clean_daily: missing(() => false),
  clean_random_walk: {
    rows: 0,
    values(random) {
      let level = 100;
      return column(() => {
        level += random.normal();
        return level;
      });
    },
  },
};

export function behaviourSeries(kind: string, seed: number): WeekSeries {
  const { rows, values } = BEHAVIOURS[kind];
  const incident = rows === 0 ? null : { kind, start: BEGIN, end: BEGIN + rows };
  const name = `${STEP_MS / 1_000}/${kind}-${seed}`;
  return { name, stepMs: STEP_MS, startMs: SPRING_MS, values: values(new RandomNumbers(seed)), incident };
}
