import assert from 'node:assert/strict';
import { STATE_FORMAT } from '../../../src/checkpoint/state-bytes.ts';
import type { DetectorConfig } from '../../../src/config/config.ts';
import type { OutputRecord } from '../../../src/engine/log/log.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { parseFrequency } from '../../../src/time/frequency.ts';
import {
  detectorConfig,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';
import {
  type GoldenChangelogRecord,
  type GoldenDetector,
  type GoldenFile,
  type GoldenObservation,
  type GoldenScore,
  goldenNames,
  hasGolden,
  readGolden,
  writeGolden,
} from './golden-file.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

/** Observations of one commit. */
const COMMIT_RECORDS = 11;

export function detectorOf({ group, settings }: GoldenDetector): DetectorConfig {
  const { alias = 'min', ...rest } = settings;
  const freq = parseFrequency(alias)!;
  return detectorConfig({ group, settings: streamSettings({ ...rest, freq }) });
}

function runOf(detector: GoldenDetector, broker: MemoryBroker) {
  // Without an interval: forecasts are requested at once, so that the bytes of a commit do not depend on time.
  const limits = { seriesMax: detector.seriesMax, commitIntervalMs: 0 };
  return streamRun({ detectors: [detectorOf(detector)], limits, broker });
}

/** The records of observations. */
export function recordsOf({ withHeaders }: GoldenDetector, observations: readonly GoldenObservation[]) {
  return observations.map(([series, step, value, group]) => {
    const headers = withHeaders === true ? ([['trace', Buffer.from(`${series}/${step}`)]] as const) : [];
    return { ...observationRecord(series, step, value, group), headers, timestampMs: 0 };
  });
}

/** The records of a changelog. */
export function changelogOf({ changelog }: GoldenFile, topic: string): OutputRecord[] {
  return changelog.map(([key, value]) => {
    const bytes = value === null ? null : Buffer.from(value, 'base64');
    return { topic, partition: 0, key: Buffer.from(key), value: bytes };
  });
}

function append(broker: MemoryBroker, detector: GoldenDetector, observations: readonly GoldenObservation[]): void {
  for (const record of recordsOf(detector, observations)) broker.appendRecord(0, record);
}

export function goldenScores(scores: readonly ScoreRecord[]): GoldenScore[] {
  return scores.map((score) => ({
    series: score.series,
    offset: score.input.offset,
    position: score.position,
    state: score.state,
    forecast: score.forecast,
    lo: score.lo,
    hi: score.hi,
    anomalyScore: score.anomalyScore,
    accumulatedAnomalyScore: score.accumulatedAnomalyScore,
    anomaly: score.anomaly,
    ...(score.grade === null ? {} : { grade: score.grade, severity: score.severity, alarm: score.alarm }),
    windowStart: score.window.start,
    restarted: score.restarted,
  }));
}

/** The newest record of each key, in log order. */
function compacted(broker: MemoryBroker): GoldenChangelogRecord[] {
  const newest = new Map<string, string | null>();
  for (const { key, value } of broker.read(TOPICS.changelog, 0)) {
    assert(key !== null);
    newest.delete(key.toString());
    newest.set(key.toString(), value?.toString('base64') ?? null);
  }
  return [...newest];
}

/** Scores a scenario without interruption, and takes the changelog at `committed`. */
export async function makeGolden({ detector, observations, committed }: Scenario): Promise<GoldenFile> {
  const broker = new MemoryBroker(TOPICS, 1);
  const run = runOf(detector, broker);
  const worker = await run.start();
  for (let start = 0; start < committed; start += COMMIT_RECORDS) {
    append(broker, detector, observations.slice(start, Math.min(committed, start + COMMIT_RECORDS)));
    await run.settled();
  }
  const changelog = compacted(broker);
  const scoresBefore = run.scores().length;
  append(broker, detector, observations.slice(committed));
  await run.settled();
  await worker.stop();
  return { detector, committed, observations, changelog, scores: goldenScores(run.scores().slice(scoresBefore)) };
}

/** The scores that follow when a worker restores the changelog of a golden file. */
export async function continueFrom(golden: GoldenFile): Promise<GoldenScore[]> {
  const { detector, committed, observations } = golden;
  const broker = new MemoryBroker(TOPICS, 1);
  append(broker, detector, observations);
  const session = await broker.openLog().openPartition(0);
  await session.commit(changelogOf(golden, TOPICS.changelog), committed);
  await session.close();
  const run = runOf(detector, broker);
  await run.scoreAll();
  return goldenScores(run.scores());
}

/** Writes the files that are missing in the present format, and the scores of all others. Keeps their changelogs. */
export async function writeGoldenFiles(): Promise<void> {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (!hasGolden(STATE_FORMAT, name)) await writeGolden(STATE_FORMAT, name, await makeGolden(scenario));
  }
  for (const { format, name } of goldenNames()) {
    const golden = readGolden(format, name);
    await writeGolden(format, name, { ...golden, scores: await continueFrom(golden) });
  }
}
