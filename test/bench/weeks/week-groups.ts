/** Groups with business seasons: what is no event of theirs, and what is one. With the defaults of `backtest`. */
import type { Figures } from '../bench.ts';
import type { SeriesInput } from '../detection/labelled-data.ts';
import { judge } from '../detection/product.ts';
import { printTable, rounded } from '../table.ts';
import { DAY_MS, INCIDENTS, type SeasonIncident, SHAPES, type Shape, seasonSeries } from './season-series.ts';

const MEMBERS = 4;
const WEEK_MS = 7 * DAY_MS;
/** Weeks in which a seasonal profile judges. */
const JUDGED_WEEKS = 3;
const STEPS_S = [300, 900, 3_600];
const INCIDENT_STEP_MS = 900_000;
/** An incident is found by an event that begins so many rows before it, or so long behind it, at most. */
const BEFORE_ROWS = 2;
const BEHIND_MS = 3_600_000;
/** Members that an incident concerns. */
const CONCERNED = { one: 1, all: MEMBERS } as const;

interface WeekGroup extends SeriesInput {
  readonly key: string;
  readonly startMs: number;
  readonly incident: { readonly start: number; readonly end: number } | null;
}

interface GroupOptions {
  readonly key: string;
  readonly shape: Shape;
  readonly stepMs: number;
  readonly seed: number;
  readonly incident?: SeasonIncident;
  readonly concerned?: number;
}

export async function weekGroupFigures(offset: number): Promise<Figures> {
  const clean = STEPS_S.flatMap((step) =>
    SHAPES.map((shape, i) => {
      return groupOf({ key: String(step), shape, stepMs: 1_000 * step, seed: offset + 1_000 + i });
    }),
  );
  const disturbed = Object.entries(CONCERNED).flatMap(([key, concerned]) =>
    (['office', 'traffic'] as const).flatMap((shape) =>
      INCIDENTS.map((incident, k) => {
        const seed = offset + 3_020 + 2 * k;
        return groupOf({ key, shape, stepMs: INCIDENT_STEP_MS, seed, incident, concerned });
      }),
    ),
  );
  const starts = await eventStarts([...clean, ...disturbed]);
  const perWeek = Map.groupBy(clean.entries(), ([, { key }]) => key);
  const events = [...perWeek].map(([step, groups]) => {
    const late = groups.map(([i, { startMs }]) => starts[i].filter((ms) => ms >= startMs + 2 * WEEK_MS).length);
    return [step, late.reduce((sum, each) => sum + each, 0) / groups.length / JUDGED_WEEKS] as const;
  });
  printTable(
    'clean groups of four from the third week on',
    ['step, s', 'events a week'],
    events.map(([...row]) => row),
  );
  const found = Object.keys(CONCERNED).map((key) => {
    const of = [...disturbed.entries()].filter(([, group]) => group.key === key);
    return [key, of.filter(([i, group]) => isFound(group, starts[clean.length + i])).length, of.length] as const;
  });
  printTable(
    'incidents of business seasons in groups of four',
    ['members', 'found', 'of'],
    found.map(([...row]) => row),
  );
  return {
    group_events_per_week: Object.fromEntries(events.map(([step, each]) => [step, rounded(each)])),
    group_found_seasons: Object.fromEntries(found.map(([key, ...counts]) => [key, counts])),
  };
}

function groupOf({ key, shape, stepMs, seed, incident, concerned = 0 }: GroupOptions): WeekGroup {
  const members = Array.from({ length: MEMBERS }, (_, i) => {
    return seasonSeries('', { shape, stepMs, seed: seed + 17 * i, incident: i < concerned ? incident! : null });
  });
  const [{ startMs, values, incident: rows }] = members;
  const times = Float64Array.from(values, (_, row) => startMs + row * stepMs);
  const name = `${key}/${shape}-${incident ?? ''}-${seed}`;
  return { key, name, stepMs, startMs, times, channels: members.map((member) => member.values), incident: rows };
}

/** For each group the event times of the first alarms of its events. */
async function eventStarts(groups: readonly WeekGroup[]): Promise<number[][]> {
  const verdicts = await judge(groups);
  return verdicts.map(({ events }) => [...new Map(events.map((each) => [each.eventId, each.firstAlarmAtMs])).values()]);
}

function isFound({ incident, startMs, stepMs }: WeekGroup, starts: readonly number[]): boolean {
  const fromMs = startMs + (incident!.start - BEFORE_ROWS) * stepMs;
  const toMs = startMs + incident!.end * stepMs + BEHIND_MS;
  return starts.some((ms) => ms >= fromMs && ms < toMs);
}
