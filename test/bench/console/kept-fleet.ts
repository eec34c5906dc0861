/** The service over a history of its own: 10,000 series that go on, and one series of a million scores. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckdb } from '../../../src/history/duckdb-history.ts';
import { openHistory } from '../../../src/history/kept-history.ts';
import { LiveSeconds } from '../../../src/history/live-seconds.ts';
import type { KeptScore } from '../../../src/history/port/history-port.ts';
import { type ConsoleService, startConsole } from '../../fixture/console/console-service.ts';
import { Fleet, type FleetIncident, STEP_MS } from '../../fixture/console/fleet.ts';

export const SERIES = 10_000;
/** The series with a score every second. */
export const LONG_SERIES = 'probe/temperature';
export const LONG_SCORES = 1_000_000;
/** Events that are open. */
export const OPEN_EVENTS = 40;
/** Steps that are kept of each series. */
const PAST_STEPS = 144;
/** Scores of one batch. */
const BATCH = 100_000;
const SECOND_MS = 1_000;
/** Every series has a new score in two seconds. */
const SHARE = SERIES / 2;

export const SERIES_NAMES = Array.from(
  { length: SERIES },
  (_, i) => `node_metric_${i % 10}{instance="host-${Math.floor(i / 10)}",job="node"}`,
);
const incidents = Array.from({ length: OPEN_EVENTS }, (_, i): FleetIncident => {
  return { series: i * 97, kind: 'level_shift', from: PAST_STEPS - 10 - (i % 20), until: null, size: 0.5 };
});

/** Each second 5,000 scores arrive, as the thread of the history would read them from Kafka. */
export async function startKeptFleet(): Promise<ConsoleService> {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-bench-console-'));
  const database = await openDuckdb(join(folder, 'history.duckdb'), { memoryMb: 256 });
  const history = await openHistory(database, { bounds: { days: 365, gb: 1_000 } });
  const startMs = Math.floor(Date.now() / STEP_MS - PAST_STEPS) * STEP_MS;
  const fleet = new Fleet({ names: SERIES_NAMES, incidents, startMs });
  let offset = 0;
  const append = async (scores: readonly KeptScore[], events: readonly number[] = [], step = 0) => {
    const placed = scores.map((score) => ({ ...score, partition: 0, offset: offset++ }));
    const raised = events.map((number) => ({ event: fleet.event(number, step), partition: 0, offset: number }));
    const positions = [{ source: 'scores', topicId: 'bench', partition: 0, nextOffset: offset }] as const;
    return history.append({ scores: placed, events: raised, incidents: [], deadLetters: [], positions });
  };
  const scored = (from: number, step: number, count: number) =>
    Array.from({ length: count }, (_, i) => fleet.score(from + i, step));

  const endMs = startMs + PAST_STEPS * STEP_MS;
  for (let first = 0; first < LONG_SCORES; first += BATCH) {
    await append(Array.from({ length: BATCH }, (_, i) => longScore(first + i, endMs)));
  }
  for (let step = 0; step < PAST_STEPS; step++) await append(scored(0, step, SERIES));
  await append([], [...incidents.keys()], PAST_STEPS - 1);
  await history.maintain();

  const live = new LiveSeconds();
  const listeners = new Set<(second: ReturnType<LiveSeconds['take']>) => void>();
  let halves = 0;
  const arriving = setInterval(() => {
    const step = PAST_STEPS + Math.floor(halves / 2);
    const from = (halves++ % 2) * SHARE;
    void append(scored(from, step, SHARE)).then((fresh) => live.add(fresh));
    const second = live.take(Date.now());
    for (const listener of listeners) listener(second);
  }, SECOND_MS);
  const feed = {
    subscribe: (listener: (second: ReturnType<LiveSeconds['take']>) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const service = await startConsole({
    names: SERIES_NAMES.slice(0, 1),
    incidents: [],
    kept: { reader: history, feed },
  });
  return {
    ...service,
    async stop() {
      clearInterval(arriving);
      await service.stop();
      await history.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A day's season with some noise, and an alarm now and then. */
function longScore(i: number, endMs: number): KeptScore {
  const forecast = 20 + 5 * Math.sin((i / 86_400) * 2 * Math.PI);
  const noise = ((i * 7_919) % 1_000) / 1_000 - 0.5;
  const alarm = i % 50_000 === 0;
  return {
    series: LONG_SERIES,
    detector: 'probes',
    group: null,
    partition: 0,
    offset: 0,
    timestampMs: endMs - (LONG_SCORES - i) * SECOND_MS,
    value: forecast + noise + Number(alarm) * 4,
    forecast,
    lo: forecast - 1,
    hi: forecast + 1,
    anomalyScore: noise,
    grade: alarm ? 0.9 : 0.1,
    severity: 1,
    alarm,
    anomaly: alarm,
    state: 'scored',
  };
}
