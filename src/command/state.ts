import { open } from 'node:fs/promises';
import { readFlags } from '../config/command-line.ts';
import type { Config, KafkaConfig } from '../config/config.ts';
import { integerFrom, text } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import { commandFlag, workerOptions } from '../config/options.ts';
import type { Forecaster } from '../forecast/forecaster.ts';
import {
  inspectSeries,
  keptObservations,
  type RestoredPartition,
  resetSeries,
  restoreForTools,
} from '../stream/engine/offline/state-tools.ts';
import { matchDetectors } from '../stream/engine/unit/bound-detector.ts';
import { topicsInUse } from '../stream/log/kafka/admin/changelog-name.ts';
import { readConsumerGroup } from '../stream/log/kafka/admin/consumer-group.ts';
import { createKafkaLog } from '../stream/log/kafka/kafka-log.ts';
import {
  type CommandIo,
  DONE,
  type ExitCode,
  FAILED,
  printProblems,
  type RunnableCommand,
  WRONG_USE,
} from './command.ts';
import { bindToModel, type DetectorModels } from './detector-models.ts';
import { newestSaved } from './newest-detectors.ts';
import { repartitionState } from './repartition-state.ts';
import { resolveWithModels } from './run-worker.ts';

const ACTIONS = ['inspect', 'export', 'reset', 'repartition'] as const;
type Action = (typeof ACTIONS)[number];

const SESSION_MS = 10_000;

const ownFlags = {
  series: commandFlag('series', text, 'series by a glob: * any characters, ? one (inspect, export: default all)'),
  partition: commandFlag('partition', integerFrom(0, 1_000_000), 'one partition (default: all)'),
  partitions: commandFlag('partitions', integerFrom(1, 10_000), 'repartition: how many partitions there will be'),
  out: commandFlag('out', text, 'export: file for the CSV (default: standard output)'),
};

/** Nothing is forecast here. */
const NO_FORECASTER: Forecaster = {
  limits: { context: 0, contextBuckets: [], horizonMax: 0 },
  forecast: () => Promise.reject(new TypeError('state is read without forecasts')),
};

/** Shows, exports or resets what a stopped worker would restore. */
export const stateCommand: RunnableCommand = {
  name: 'state',
  summary:
    'What a worker would restore, while none runs: inspect, export (kept values as CSV), reset --series GLOB or ' +
    '--partition N (they start over), repartition --partitions N (more of them; all state moves)',
  operands: ['ACTION'],
  options: [...Object.values(ownFlags), ...Object.values(workerOptions)],
  async run([action = ''], flags, io) {
    const read = readFlags(flags, ownFlags);
    const fromFile = loadProcessConfig(flags, ['brokers', 'detectors']);
    if (read.kind === 'problems') return printProblems(read.problems, io);
    if (fromFile.kind === 'problems') return printProblems(fromFile.problems, io);
    const { series, partition, partitions, out } = read.values;
    if (!ACTIONS.some((known) => known === action)) {
      io.err(`ACTION must be ${ACTIONS.join(', ')}, got ${JSON.stringify(action)}`);
      return WRONG_USE;
    }
    if (action === 'reset' && series === undefined && partition === undefined) {
      io.err('reset needs --series or --partition: say --series "*" for everything');
      return WRONG_USE;
    }
    if ((action === 'repartition') !== (partitions !== undefined)) {
      io.err('repartition needs --partitions, and no other action has it');
      return WRONG_USE;
    }
    const saved = await newestSaved(fromFile.config.kafka!, fromFile.config.detectorsTopic);
    const loaded = loadProcessConfig(flags, ['brokers', 'detectors'], { detectorsText: saved?.text ?? null });
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const { models, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems') return printProblems(result.problems, io);
    const config = { ...result.config, kafka: result.config.kafka! };
    const asked = { action: action as Action, glob: series ?? '*', partition, partitions, out };
    return useState(asked, { config, models, version: saved?.version ?? 0 }, io);
  },
};

interface AskedState {
  readonly action: Action;
  readonly glob: string;
  readonly partition: number | undefined;
  readonly partitions: number | undefined;
  readonly out: string | undefined;
}

interface StateSource {
  readonly config: Config & { readonly kafka: KafkaConfig };
  readonly models: DetectorModels;
  readonly version: number;
}

async function useState(asked: AskedState, { config, models, version }: StateSource, io: CommandIo): Promise<ExitCode> {
  const { kafka, stream } = config;
  const topics = await topicsInUse({ config: kafka }, stream);
  const { members } = await readConsumerGroup(
    { config: kafka },
    { groupId: stream.groupId, topic: topics.observations },
  );
  if (members > 0) {
    io.err(
      `Group ${stream.groupId} has ${members} members: stop the workers first. Reading their state would fence them`,
    );
    return FAILED;
  }
  const detectors = stream.detectors.map((detector) => bindToModel(detector, models, () => NO_FORECASTER));
  const lookup = {
    detectorOf: matchDetectors(detectors),
    detectorNamed: new Map(detectors.map((detector) => [detector.config.name, detector])),
    // A reset helps where no version that a partition was scored by is there any more.
    detectorsVersion: asked.action === 'reset' ? Number.POSITIVE_INFINITY : version,
  };
  if (asked.partitions !== undefined) {
    const { keyedBy } = stream.input;
    const source = { connection: { config: kafka }, topics, groupId: stream.groupId, lookup, keyedBy };
    return repartitionState(source, asked.partitions, io);
  }
  const log = createKafkaLog({ config: kafka, log: () => {}, topics, groupId: stream.groupId, sessionMs: SESSION_MS });
  const file = asked.out === undefined ? null : await open(asked.out, 'w');
  const print = async (lines: readonly string[]) => {
    if (file !== null) await file.appendFile(lines.map((line) => `${line}\n`).join(''));
    else for (const line of lines) io.out(line);
  };
  try {
    if (asked.action === 'export') await print(['series,timestamp,value']);
    const count = await log.partitionCount();
    const partitions = asked.partition === undefined ? [...Array(count).keys()] : [asked.partition];
    for (const partition of partitions) {
      const session = await log.openPartition(partition);
      try {
        const found = await restoreForTools(session, topics.observations, lookup);
        if (asked.action === 'reset') {
          io.out(`partition ${partition}: ${await resetSeries(found, { glob: asked.glob, topics })} start over`);
        } else await print(linesOf(asked, found));
      } finally {
        await session.close();
      }
    }
    return DONE;
  } finally {
    await file?.close();
    await log.close();
  }
}

function linesOf({ action, glob }: AskedState, found: RestoredPartition): string[] {
  if (action === 'export') {
    return [...keptObservations(found, glob)].map(
      ({ series, timestampMs, value }) => `${quotedText(series)},${new Date(timestampMs).toISOString()},${value}`,
    );
  }
  const { session, state, restored } = found;
  const series = inspectSeries(found, glob);
  const { offset, from } = restored.resume;
  const held = `${state.units.size} series and groups, ${state.stale.size} under other settings`;
  return [
    `partition ${session.partition}: ${held}; goes on at offset ${offset ?? 'oldest'} (${from})`,
    ...series.map(({ series, detector, position, calibrated, newestMs, silent, waiting }) => {
      const newest = Number.isNaN(newestMs) ? 'unknown' : new Date(newestMs).toISOString();
      const asides = [silent ? ', silent' : '', waiting > 0 ? `, ${waiting} records wait` : ''].join('');
      return `  ${series} (${detector}): position ${position}, ${calibrated} residuals, newest ${newest}${asides}`;
    }),
  ];
}

function quotedText(field: string): string {
  return /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
