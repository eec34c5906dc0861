/**
 * Days and weeks in the stream: what is no event any more, and what is one, on generated series. With the defaults of a
 * detectors file.
 */
import { parseArgs } from 'node:util';
import type { ProfileWishes } from '../../../src/config/keys/profile-keys.ts';
import {
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  profileLayout,
  startProfile,
} from '../../../src/detection/profile/profile-layout.ts';
import { trackSeason } from '../../../src/detection/profile/season-verdict.ts';
import { UTC_CALENDAR, zoneOffsets } from '../../../src/time/local-calendar.ts';
import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { BEHAVIOURS, behaviourSeries } from './behaviour-series.ts';
import { DAY_MS, HOLIDAY, INCIDENTS, SHAPES, SPRING_MS, seasonSeries, type WeekSeries } from './season-series.ts';
import { eventStarts } from './week-events.ts';
import { weekGroupFigures } from './week-groups.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * DAY_MS;
const STEPS_S = [60, 300, 900, 3_600];
const ZONE = 'Europe/Berlin';
/** Mondays; clocks change on the 28th day. */
const CHANGES: Readonly<Record<string, number>> = { forward: SPRING_MS - HOUR_MS, back: Date.UTC(2026, 8, 27, 22) };
const CHANGE_DAY = 27;
const CHANGE_DAYS = 2;
/** An incident is found by an event that begins so many rows before it, or so long behind it, at most. */
const BEFORE_ROWS = 2;
const BEHIND_MS = { seasons: HOUR_MS, behaviours: 2 * HOUR_MS };
/** Seeds of each series. */
const SEEDS = 3;
const INCIDENT_SEEDS = 2;
const TIMED_ROWS = 1_000_000;

type Found = Map<string, boolean[]>;

/** @param args `--seed N` moves all seeds; `--quick` leaves out steps of a minute, and all but one seed */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags } = parseArgs({
    args: [...args],
    options: { seed: { type: 'string', default: '0' }, quick: { type: 'boolean', default: false } },
  });
  const plan = {
    offset: 10_000 * Number(flags.seed),
    steps: flags.quick ? STEPS_S.slice(1) : STEPS_S,
    quick: flags.quick,
  };
  return {
    ...(await seasonFigures(plan)),
    ...(await behaviourFigures(plan)),
    ...(await calendarFigures(plan)),
    ...(await weekGroupFigures(plan.offset)),
    ...price(),
  };
}

interface Plan {
  readonly offset: number;
  readonly steps: readonly number[];
  readonly quick: boolean;
}

/** Seeds of a step: a series of minutes has as many rows as all others together. */
function seedsOf(step: number, most: number, { quick, offset }: Plan): number[] {
  const count = quick || step < 300 ? 1 : most;
  return Array.from({ length: count }, (_, i) => offset + 1_000 * (i + 1));
}

async function seasonFigures(plan: Plan): Promise<Figures> {
  const clean: WeekSeries[] = [];
  const disturbed: WeekSeries[] = [];
  for (const step of plan.steps) {
    const stepMs = 1_000 * step;
    for (const [i, shape] of SHAPES.entries()) {
      for (const seed of seedsOf(step, SEEDS, plan)) {
        clean.push(seasonSeries(`${step}/clean-${shape}-${seed}`, { shape, stepMs, seed: seed + i }));
      }
    }
    for (const shape of ['office', 'traffic'] as const) {
      for (const [k, incident] of INCIDENTS.entries()) {
        for (const seed of seedsOf(step, INCIDENT_SEEDS, plan)) {
          const options = { shape, stepMs, incident, seed: seed + 20 + 2 * k + SHAPES.indexOf(shape) };
          disturbed.push(seasonSeries(`${step}/${incident}-${shape}-${seed}`, options));
        }
      }
    }
  }
  const perWeek = new Map<string, number[]>();
  for (const [i, starts] of (await eventStarts(clean)).entries()) {
    const { stepMs, startMs, values } = clean[i];
    const weeks = (values.length * stepMs) / WEEK_MS - 2;
    const late = starts.filter((ms) => ms >= startMs + 2 * WEEK_MS).length / weeks;
    add(perWeek, String(stepMs / 1_000), late);
  }
  const events = Object.fromEntries([...perWeek].map(([step, each]) => [step, rounded(mean(each))]));
  printTable('clean series from the third week on', ['step, s', 'series', 'events a week'], rowsOf(perWeek, mean));
  const { found, all } = foundIn(disturbed, await eventStarts(disturbed), BEHIND_MS.seasons);
  printFound('incidents of business seasons', found);
  return { events_per_week: events, found_seasons: countsOf(found), all_seasons: all };
}

async function behaviourFigures(plan: Plan): Promise<Figures> {
  const series = Object.keys(BEHAVIOURS).flatMap((kind) => {
    return seedsOf(300, SEEDS, plan).map((seed) => behaviourSeries(kind, seed));
  });
  const starts = await eventStarts(series);
  const { found, all } = foundIn(series, starts, BEHIND_MS.behaviours);
  printFound('behaviours of metrics', found);
  const clean = new Map<string, number[]>();
  for (const [i, { name, incident, startMs }] of series.entries()) {
    if (incident !== null) continue;
    add(clean, name.slice(4).replace(/-\d+$/, ''), starts[i].filter((ms) => ms >= startMs + WEEK_MS).length / 2);
  }
  printTable('clean behaviours from the second week on', ['series', 'count', 'events a week'], rowsOf(clean, mean));
  const cleanEvents = Object.fromEntries([...clean].map(([kind, each]) => [kind, rounded(mean(each))]));
  return { found_behaviours: countsOf(found), all_behaviours: all, behaviour_events_per_week: cleanEvents };
}

/** Days on which clocks change, and holidays: events in the two days from then on, with the calendar and without. */
async function calendarFigures({ offset, steps }: Plan): Promise<Figures> {
  const rows: Cell[][] = [];
  const figures: Record<string, Figures> = { clock_change_events: {}, holiday_events: {} };
  const count = async (series: readonly WeekSeries[], day: number, wishes: ProfileWishes) => {
    const all = await eventStarts(series, wishes);
    return all.flatMap((starts, i) => {
      const fromMs = series[i].startMs + day * DAY_MS;
      return starts.filter((ms) => ms >= fromMs - HOUR_MS && ms < fromMs + CHANGE_DAYS * DAY_MS);
    }).length;
  };
  const compare = async (
    key: string,
    name: string,
    series: readonly WeekSeries[],
    day: number,
    wishes: ProfileWishes,
  ) => {
    const [known, unknown] = [await count(series, day, wishes), await count(series, day, {})];
    rows.push([name, series.length, known, unknown]);
    figures[key] = { ...figures[key], [name]: known, [`${name}_unknown`]: unknown };
  };
  const coarse = steps.filter((step) => step >= 300);
  const calendar = { ...UTC_CALENDAR, offsets: zoneOffsets(ZONE) };
  for (const [name, startMs] of Object.entries(CHANGES)) {
    const series = coarse.flatMap((step) =>
      SHAPES.map((shape, i) => {
        const options = { shape, stepMs: 1_000 * step, seed: offset + 500 + i, startMs, calendar };
        return seasonSeries(`${step}/${name}-${shape}`, options);
      }),
    );
    await compare('clock_change_events', name, series, CHANGE_DAY, { timezone: ZONE });
  }
  const holidays = coarse.flatMap((step) =>
    SHAPES.map((shape, i) => {
      const options = { shape, stepMs: 1_000 * step, seed: offset + 600 + i, isHoliday: true };
      return seasonSeries(`${step}/holiday-${shape}`, options);
    }),
  );
  const date = new Date(SPRING_MS + HOLIDAY * DAY_MS).toISOString().slice(0, 10);
  await compare('holiday_events', 'monday', holidays, HOLIDAY, { specialDays: [{ dates: [date], like: 'sun' }] });
  printTable('events in two days', ['what', 'series', 'calendar known', 'not known'], rows);
  return figures;
}

/** Memory of a profile, and processor time of a row of it. */
function price(): Figures {
  const layout = profileLayout(UTC_CALENDAR, 60_000)!;
  const doubles = new Float64Array(PROFILE_DOUBLES.count);
  const floats = new Float32Array(PROFILE_FLOATS.count);
  const halves = new Float16Array(layout.halves);
  const state = { layout, doubles, doubleStart: 0, floats, floatStart: 0, halves, halfStart: 0 };
  startProfile(state);
  const feed = (from: number) => {
    const begun = process.cpuUsage();
    for (let row = from; row < from + TIMED_ROWS; row++) {
      trackSeason(state, SPRING_MS + 60_000 * row, 100 + 40 * Math.sin(row / 229) + (row % 7), 0.1);
    }
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / TIMED_ROWS;
  };
  feed(0);
  const micros = Math.min(feed(TIMED_ROWS), feed(2 * TIMED_ROWS), feed(3 * TIMED_ROWS));
  const bytes = doubles.byteLength + floats.byteLength + halves.byteLength;
  printTable('the profile of a series', ['bytes', 'us a row'], [[bytes, micros]]);
  return { profile_bytes_per_series: bytes, profile_us_per_row: rounded(micros) };
}

function foundIn(series: readonly WeekSeries[], all: readonly number[][], behindMs: number) {
  const found: Found = new Map();
  for (const [i, { incident, startMs, stepMs }] of series.entries()) {
    if (incident === null) continue;
    const fromMs = startMs + (incident.start - BEFORE_ROWS) * stepMs;
    const toMs = startMs + incident.end * stepMs + Math.max(2 * stepMs, behindMs);
    add(
      found,
      incident.kind,
      all[i].some((ms) => ms >= fromMs && ms < toMs),
    );
  }
  const each = [...found.values()].flat();
  return { found, all: [each.filter(Boolean).length, each.length] };
}

function printFound(title: string, found: Found): void {
  printTable(
    title,
    ['kind', 'of', 'found'],
    rowsOf(found, (each) => each.filter(Boolean).length),
  );
}

function countsOf(found: Found): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries([...found].map(([kind, each]) => [kind, [each.filter(Boolean).length, each.length]]));
}

function rowsOf<T>(groups: ReadonlyMap<string, readonly T[]>, of: (each: readonly T[]) => number): Cell[][] {
  return [...groups].map(([name, each]) => [name, each.length, of(each)]);
}

function add<T>(groups: Map<string, T[]>, name: string, one: T): void {
  groups.set(name, [...(groups.get(name) ?? []), one]);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
