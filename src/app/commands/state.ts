import { readFlags } from '../../config/command-line.ts';
import type { KafkaConfig, Topics } from '../../config/config.ts';
import type { Config } from '../../config/load.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { commandFlag, type OptionValues } from '../../config/options/option.ts';
import { workerOptions } from '../../config/options/options.ts';
import { boolean, integerFrom, oneOf, seriesText, text } from '../../config/schema/kinds.ts';
import { mustBe } from '../../config/schema/problems.ts';
import { type DetectorModels, loadDetector } from '../../engine/detector-models.ts';
import { createKafkaLog } from '../../engine/log/kafka-log.ts';
import type { StreamLog } from '../../engine/log/log.ts';
import { adoptionText, adoptState } from '../../engine/offline/adopt-state.ts';
import {
  inspectSeries,
  keptObservations,
  type RestoredPartition,
  resetSeries,
  restoreForTools,
} from '../../engine/offline/state-tools.ts';
import type { DetectorLookup } from '../../engine/state/restore-partition.ts';
import { topicsInUse } from '../../engine/topics/changelog-name.ts';
import { requireTopics } from '../../engine/topics/topic-admin.ts';
import { detectorsOfInput } from '../../engine/unit/loaded-detector.ts';
import type { Forecaster } from '../../forecasting/forecaster.ts';
import { readConsumerGroup } from '../../kafka/admin/consumer-group.ts';
import { observationRow } from '../../tools/csv/score-rows.ts';
import { type CommandIo, DONE, type ExitCode, FAILED, WRONG_USE } from '../../tools/terminal/command-io.ts';
import { openLines } from '../../tools/terminal/output-file.ts';
import { printable } from '../../tools/terminal/score-line.ts';
import { newestSaved } from '../processes/detectors-topic.ts';
import { repartitionState } from '../processes/repartition-state.ts';
import { resolveWithModels } from '../processes/run-worker.ts';
import { printProblems, type RunnableCommand } from './command.ts';

const actionKind = oneOf('inspect', 'export', 'reset', 'repartition', 'adopt');
type Action = NonNullable<ReturnType<typeof actionKind.parse>>;

const SESSION_MS = 10_000;

const ownFlags = {
  series: commandFlag('series', seriesText, 'series, by a glob or matchers of labels (inspect, export: default all)'),
  partition: commandFlag('partition', integerFrom(0, 1_000_000), 'one partition (default: all)'),
  partitions: commandFlag('partitions', integerFrom(1, 10_000), 'repartition: new number of partitions'),
  dryRun: commandFlag('dry-run', boolean, 'reset: only counts the series that would start over'),
  out: commandFlag('out', text, 'export: file for the CSV (default: standard output)'),
  json: commandFlag('json', boolean, 'inspect: prints one JSON record a series'),
};

/** Nothing is forecast here. */
const NO_FORECASTER: Forecaster = {
  limits: { context: 0, contextBuckets: [], horizonMax: 0 },
  forecast: () => Promise.reject(new TypeError('state is read without forecasts')),
};

/** Shows, exports or resets what a stopped worker would restore. */
export const stateCommand: RunnableCommand = {
  operands: ['ACTION'],
  options: [...Object.values(ownFlags), ...Object.values(workerOptions)],
  async run([written = ''], flags, io) {
    const action = actionKind.parse(written);
    if (action === undefined) return refuse([mustBe('ACTION', actionKind.expected, written)], io);
    const read = readFlags(flags, ownFlags);
    if (read.kind === 'problems') return printProblems(read.problems, io);
    const misused = misusedFlags(action, read.values);
    if (misused.length > 0) return refuse(misused, io);
    const fromFile = loadProcessConfig(flags, ['brokers', 'detectors']);
    if (fromFile.kind === 'problems') return printProblems(fromFile.problems, io);
    const saved = await newestSaved(fromFile.config.kafka!, fromFile.config.detectorsTopic);
    const loaded = loadProcessConfig(flags, ['brokers', 'detectors'], { detectorsText: saved?.text ?? null });
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { models, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems') return printProblems(result.problems, io);
    const config = { ...result.config, kafka: result.config.kafka! };
    return runStateAction({ action, ...read.values }, { config, models, version: saved?.version ?? 0 }, io);
  },
};

type StateFlags = OptionValues<typeof ownFlags>;

interface GivenState extends StateFlags {
  readonly action: Action;
}

/** Flags that the action does not know, or lacks. */
function misusedFlags(action: Action, { series, partition, partitions, dryRun, out, json }: StateFlags): string[] {
  const problems: string[] = [];
  if (action === 'reset' && series === undefined && partition === undefined) {
    problems.push('reset needs --series or --partition; --series "*" is everything');
  }
  if (action === 'adopt' && (series ?? partition) !== undefined) {
    problems.push('adopt takes all state: it takes no --series and no --partition');
  }
  if (action === 'repartition' && partitions === undefined) problems.push('repartition needs --partitions');
  if (action === 'repartition' && (series ?? partition) !== undefined) {
    problems.push('repartition moves all state: it takes no --series and no --partition');
  }
  if (action !== 'repartition' && partitions !== undefined) problems.push(`${action} takes no --partitions`);
  if (action !== 'reset' && dryRun) problems.push(`${action} takes no --dry-run`);
  if (action !== 'inspect' && json) problems.push(`${action} takes no --json`);
  if (action !== 'export' && out !== undefined) problems.push(`${action} takes no --out`);
  return problems;
}

function refuse(problems: readonly string[], io: CommandIo): ExitCode {
  for (const problem of problems) io.err(problem);
  return WRONG_USE;
}

interface StateSource {
  readonly config: Config & { readonly kafka: KafkaConfig };
  readonly models: DetectorModels;
  readonly version: number;
}

async function runStateAction(
  given: GivenState,
  { config, models, version }: StateSource,
  io: CommandIo,
): Promise<ExitCode> {
  const { kafka, stream } = config;
  const topics = await topicsInUse({ config: kafka }, stream);
  // A session waits for a changelog that is missing.
  await requireTopics({ config: kafka }, topics);
  const { members } = await readConsumerGroup(
    { config: kafka },
    { groupId: stream.groupId, topic: topics.observations },
  );
  if (members > 0) {
    io.err(
      `Group ${stream.groupId} has members (${members}): stop the workers first, reading their state would fence ` +
        'them. A worker that was killed, or has a KAFKA_GROUP_INSTANCE_ID, stays a member for KAFKA_SESSION_MS',
    );
    return FAILED;
  }
  const detectors = stream.detectors.map((detector) => loadDetector(detector, models, () => NO_FORECASTER));
  const { detectorOf, idOf } = detectorsOfInput(detectors, stream.input);
  const lookup = {
    detectorOf,
    idOf,
    detectorNamed: new Map(detectors.map((detector) => [detector.config.name, detector])),
    // A reset helps where no version that a partition was scored by is there any more.
    detectorsVersion: given.action === 'reset' ? Number.POSITIVE_INFINITY : version,
  };
  if (given.partitions !== undefined) {
    const { keyedBy } = stream.input;
    const source = { connection: { config: kafka }, topics, groupId: stream.groupId, lookup, keyedBy };
    return repartitionState(source, given.partitions, io);
  }
  const log = createKafkaLog({ config: kafka, log: () => {}, topics, groupId: stream.groupId, sessionMs: SESSION_MS });
  try {
    if (given.action === 'adopt') return await adoptAll(log, { topics, groupId: stream.groupId }, io);
    return await usePartitions(given, { log, topics, lookup }, io);
  } finally {
    await log.close();
  }
}

async function adoptAll(
  log: StreamLog,
  { topics, groupId }: { readonly topics: Topics; readonly groupId: string },
  io: CommandIo,
): Promise<ExitCode> {
  let isWhole = true;
  for (const partition of Array(await log.partitionCount()).keys()) {
    const session = await log.openPartition(partition);
    try {
      const adoption = await adoptState(session, topics);
      if (adoption.kind === 'without-offset') isWhole = false;
      io.out(adoptionText(partition, adoption, groupId));
    } finally {
      await session.close();
    }
  }
  return isWhole ? DONE : FAILED;
}

async function usePartitions(
  given: GivenState,
  { log, topics, lookup }: { readonly log: StreamLog; readonly topics: Topics; readonly lookup: DetectorLookup },
  io: CommandIo,
): Promise<ExitCode> {
  const { action, partition: only, series: glob = '*', dryRun: isDry = false, out } = given;
  const count = await log.partitionCount();
  if (only !== undefined && only >= count) {
    return refuse([mustBe('--partition', `below ${count}, the partitions of ${topics.observations}`, only)], io);
  }
  const output = await openLines(out, io.out);
  let reset = 0;
  try {
    if (action === 'export') await output.write(['series,timestamp,value']);
    for (const partition of only === undefined ? Array(count).keys() : [only]) {
      if (io.stop.aborted) {
        io.err(`Stopped before partition ${partition}.`);
        return FAILED;
      }
      const session = await log.openPartition(partition);
      try {
        const found = await restoreForTools(session, topics.observations, lookup);
        if (action === 'export') await output.write([...keptObservations(found, glob)].map(observationRow));
        else if (action === 'inspect') await output.write(given.json ? recordsOf(found, glob) : linesOf(found, glob));
        else {
          const units = await resetSeries(found, { glob, topics, isDry });
          await output.write([`partition ${partition}: ${units} series and groups ${isDry ? 'would ' : ''}start over`]);
          reset += units;
        }
      } finally {
        await session.close();
      }
    }
  } finally {
    await output.close();
  }
  if (action !== 'reset' || given.series === undefined || reset > 0) return DONE;
  io.err(`No series matches ${JSON.stringify(glob)}`);
  return FAILED;
}

function recordsOf(found: RestoredPartition, glob: string): string[] {
  const { partition } = found.session;
  return inspectSeries(found, glob).map((series) => {
    const newestMs = Number.isNaN(series.newestMs) ? null : series.newestMs;
    return JSON.stringify({ partition, ...series, newestMs });
  });
}

function linesOf(found: RestoredPartition, glob: string): string[] {
  const { session, state, restored } = found;
  const series = inspectSeries(found, glob);
  const { offset, from } = restored.resume;
  const held = `${state.units.size} series and groups, ${state.outdated.size} under other settings`;
  return [
    `partition ${session.partition}: ${held}; continues at offset ${offset ?? 'oldest'} (${from})`,
    ...series.map(({ series, detector, position, calibrated, newestMs, silent, waiting }) => {
      const newest = Number.isNaN(newestMs) ? 'unknown' : new Date(newestMs).toISOString();
      const asides = [silent ? ', silent' : '', waiting > 0 ? `, ${waiting} records wait` : ''].join('');
      const place = `position ${position}, ${calibrated} residuals, newest ${newest}`;
      return `  ${printable(series)} (${detector}): ${place}${asides}`;
    }),
  ];
}
