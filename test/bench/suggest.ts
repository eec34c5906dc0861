/** What `suggest` is worth on labelled series, beside the defaults, and how long it takes for many series. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { WrittenDetector } from '../../src/config/config.ts';
import { readDetectorsFile } from '../../src/config/detectors-file.ts';
import { SeriesColumns } from '../../src/suggest/series-columns.ts';
import { suggest } from '../../src/suggest/suggestion.ts';
import { suggestionText } from '../../src/suggest/suggestion-text.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import type { Figures } from './bench.ts';
import { segmentsOf } from './detection/event-segments.ts';
import { isReported, type LabelledInput, readLabelled, type SeriesInput } from './detection/labelled-data.ts';
import { defaultDetector, judge, observationsOf, type Verdicts } from './detection/product.ts';
import { seriesCard, setCard } from './detection/score-card.ts';
import { printTable, rounded } from './table.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const DATA = fileURLToPath(new URL('../../../shared', import.meta.url));
const FLEET_SERIES = 10_000;
/** Two weeks of hours. */
const FLEET_STEPS = 336;
const WEEK_MS = 7 * 86_400_000;

/** @param args `--data FOLDER` (with detection/), `--no-fleet` leaves the many series out */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: { data: { type: 'string', default: DATA }, fleet: { type: 'boolean', default: true } },
  });
  return { ...(await onLabelled(flags.data)), ...(flags.fleet && (await onFleet())) };
}

async function onLabelled(data: string): Promise<Figures> {
  const inputs = readLabelled(data, 'uni');
  if (inputs.length === 0) {
    console.log(`No labelled series: ${data} has no detection/; say where it is with --data.`);
    return {};
  }
  const suggested = new Map(inputs.map((input) => [input.name, suggestedDetector(input)]));
  const watched = inputs.filter(({ name }) => suggested.get(name) !== null);
  const contestants = {
    default: await judge(inputs),
    suggested: await judge(watched, null, ({ name }) => suggested.get(name)!),
  };
  const rows: (string | number)[][] = [];
  const figures: Record<string, number> = { suggest_not_watched_series: inputs.length - watched.length };
  for (const [name, verdicts] of Object.entries(contestants)) {
    const of = name === 'default' ? inputs : watched;
    for (const [half, isIn] of [
      ['chosen on', (input: LabelledInput) => !isReported(input)],
      ['reported', isReported],
    ] as const) {
      const cards = inputs.filter(isIn).map((input) => {
        const at = of.indexOf(input);
        return { input, verdicts: at < 0 ? silent(input) : verdicts[at] };
      });
      const card = setCard(cards.map(({ input, verdicts }) => seriesCard(input, verdicts)));
      const events = eventCounts(cards);
      rows.push([half, name, card.vusPr, card.eventF1, card.recall, events.recall, events.falseAWeek]);
      if (half === 'chosen on') continue;
      const of_ = (key: string) => `${name}_${key}`;
      figures[of_('vus_pr')] = rounded(card.vusPr);
      figures[of_('event_f1')] = rounded(card.eventF1);
      figures[of_('one_threshold_recall')] = rounded(card.recall);
      figures[of_('event_recall')] = rounded(events.recall);
      figures[of_('false_events_a_week')] = rounded(events.falseAWeek);
    }
  }
  printTable(
    'labelled series by the defaults and by what is suggested for each; events: incidents that one touches, others a week and series',
    ['half', 'settings', 'VUS-PR', 'event F1', 'recall', 'incidents with an event', 'false events a week'],
    rows,
  );
  return figures;
}

/** What the command writes for a file of this series; null where it would not watch it. */
function suggestedDetector(input: SeriesInput): WrittenDetector | null {
  const columns = new SeriesColumns(Number.POSITIVE_INFINITY);
  for (const { series, timestampMs, value } of observationsOf(input)) {
    if (Number.isFinite(value)) columns.add(series, timestampMs, value);
  }
  const suggestion = suggest(columns);
  if (suggestion.detectors.length === 0) {
    console.log(`${input.name}: ${suggestion.notWatched.map(({ why }) => why).join()}`);
    return null;
  }
  const problems: string[] = [];
  const context = { command: 'suggest', sources: [], input: [], previews: new Map(), timeZone: 'UTC' };
  const file = readDetectorsFile(input.name, suggestionText(suggestion, context), problems);
  if (file === null || problems.length > 0) throw new Error(problems.join('\n'));
  const [detector] = file.stream.detectors;
  const { settings, events } = defaultDetector(input);
  const differs = [
    ...(['h', 'detectionSize', 'silenceAfter'] as const).filter((key) => settings[key] !== detector.settings[key]),
    ...(['direction', 'minDeviation'] as const).filter((key) => events[key] !== detector.events[key]),
  ];
  if (differs.length > 0) console.log(`${input.name}: ${differs.join(', ')} ${detector.events.minDeviation || ''}`);
  return detector;
}

function silent({ times }: SeriesInput): Verdicts {
  const nothing = new Float64Array(times.length).fill(Number.NaN);
  return { severity: nothing, grade: nothing, alarm: new Uint8Array(times.length), events: [] };
}

interface JudgedInput {
  readonly input: LabelledInput;
  readonly verdicts: Verdicts;
}

/** Incidents that an event touches, and events of a week and series that touch none, after the warm-up. */
function eventCounts(judged: readonly JudgedInput[]) {
  let [incidents, hit, others, weeks] = [0, 0, 0, 0];
  for (const { input, verdicts } of judged) {
    const { times, labels, split, stepMs } = input;
    const spans = new Map<string, { from: number; to: number }>();
    for (const { eventId, kind, firstAlarmAtMs, updatedAtMs } of verdicts.events) {
      if (kind !== 'silence') spans.set(eventId, { from: firstAlarmAtMs, to: updatedAtMs });
    }
    const events = [...spans.values()].filter(({ from }) => from >= times[split]);
    const segments = segmentsOf(labels)
      .filter(({ start }) => start >= split)
      .map(({ start, end }) => ({ from: times[start] - 2 * stepMs, to: times[Math.min(end, times.length - 1)] }));
    const touches = (a: { from: number; to: number }, b: { from: number; to: number }) =>
      a.from <= b.to && b.from <= a.to;
    incidents += segments.length;
    hit += segments.filter((segment) => events.some((event) => touches(segment, event))).length;
    others += events.filter((event) => !segments.some((segment) => touches(segment, event))).length;
    weeks += ((times.length - split) * stepMs) / WEEK_MS;
  }
  return { recall: hit / incidents, falseAWeek: others / weeks };
}

/** The command, for a file of many series, with the events of some. */
async function onFleet(): Promise<Figures> {
  const folder = freshFolder();
  const path = join(folder, 'fleet.csv');
  await writeFleet(path);
  const begun = performance.now();
  const args = [MAIN, 'suggest', path, '--out', join(folder, 'detectors.yaml')];
  const [exitCode] = await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  const seconds = (performance.now() - begun) / 1_000;
  if (exitCode !== 0) throw new Error(`suggest ended with ${exitCode}`);
  const observations = FLEET_SERIES * FLEET_STEPS;
  printTable('the command on many series', ['series', 'observations', 's'], [[FLEET_SERIES, observations, seconds]]);
  return { suggest_10000_series_s: rounded(seconds) };
}

async function writeFleet(path: string): Promise<void> {
  const file = await open(path, 'w');
  await file.write('series,timestamp,value\n');
  const beginMs = Date.UTC(2026, 0, 5);
  for (let step = 0; step < FLEET_STEPS; step++) {
    const lines: string[] = [];
    for (let i = 0; i < FLEET_SERIES; i++) {
      const value = 10 + (i % 7) * Math.sin((step / 24) * 2 * Math.PI) + Math.sin(i * 12.9898 + step * 78.233);
      lines.push(`host-${i >> 3}/metric-${'abcdefgh'[i & 7]},${beginMs + step * 3_600_000},${value.toFixed(3)}\n`);
    }
    await file.write(lines.join(''));
  }
  await file.close();
}
