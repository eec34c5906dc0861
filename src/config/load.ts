import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { ConfigResult, LoadedConfig, LogLevel, Topics, WorkerLimits } from './config.ts';
import { type Given, httpOf, kafkaOf, prometheusHeadersOf, registryOf, remoteWriteOf } from './connections.ts';
import { type DetectorsFile, noDetectorsFile, readDetectorsFile, type WrittenTopics } from './detectors-file.ts';
import { type Environment, type Flags, GivenOptions, type OptionSources } from './given-options.ts';
import { headerValue } from './option-kinds.ts';
import { options, workerLimits } from './options.ts';
import { isPointsFormat } from './rekeyed-input.ts';
import { readNamedFile } from './schema/named-file.ts';
import { topicNameOf } from './topic-name.ts';
import { unknownVariables } from './unknown-variables.ts';

/** Flags that only one command has are ignored. */
export interface ConfigSources extends OptionSources {
  readonly processors: number;
  /** Options that the command requires. */
  readonly requires: readonly ('brokers' | 'detectors' | 'routes' | 'remoteWriteUrl' | 'sourceHeaders')[];
  readonly fallbacks?: CommandFallbacks;
}

/** Defaults of the command. */
export interface CommandFallbacks {
  /** Path of a detectors file. */
  readonly detectors?: string;
  readonly logLevel?: LogLevel;
}

const NEEDED = {
  brokers: options.brokers.kind.expected,
  detectors: 'the path of a detectors file',
  routes: 'the path of a routes file',
  remoteWriteUrl: options.remoteWriteUrl.kind.expected,
} as const;

/** The changelog of all groups, before its name contained the group id. For the default group both are the same. */
const EARLIER_CHANGELOG = 'tidewatch-changelog';

function withChangelog(
  groupId: string,
  topics: WrittenTopics,
): { readonly topics: Topics; readonly earlierChangelog: string | null } {
  const changelog = topics.changelog ?? `${topicNameOf(groupId, 239)}-changelog`;
  const isEarlier = topics.changelog !== null || changelog === EARLIER_CHANGELOG;
  return { topics: { ...topics, changelog }, earlierChangelog: isEarlier ? null : EARLIER_CHANGELOG };
}

/**
 * Reads the configuration: flags win over environment, environment over the detectors file, the file over defaults.
 * Reports all problems at once. A wrong value is never replaced by a default.
 */
export function loadConfig(sources: ConfigSources): ConfigResult<LoadedConfig> {
  const given = new GivenOptions(options, sources);
  const { values, problems } = given;
  const kafka = kafkaOf(given);
  const registry = registryOf(given);
  const { groupId, groupInstanceId = null } = values;
  const file = loadDetectorsFile(given, sources);
  const config: LoadedConfig = {
    kafka,
    registry,
    prometheusHeaders: prometheusHeadersOf(given),
    sourceHeaders: sources.requires.includes('sourceHeaders')
      ? sourceHeadersOf(file, { env: sources.env, common: prometheusHeadersOf(given), problems })
      : new Map(),
    stream: { groupId, groupInstanceId, ...file.stream, ...withChangelog(groupId, file.stream.topics) },
    sources: file.sources,
    dependsOn: file.dependsOn,
    worker: workerLimitsOf(given, file.worker, sources.processors),
    http: httpOf(given),
    grpcPort: values.grpcPort === 'off' ? null : values.grpcPort,
    opsHost: values.opsHost,
    opsPort: values.opsPort,
    opsPortMoves: !given.isSet('opsPort'),
    dataDir: values.dataDir,
    storeUrl: values.storeUrl ?? null,
    detectorsTopic: values.detectorsTopic,
    changesTopic: values.changesTopic,
    incidents: { topic: values.incidentsTopic, quietMs: values.incidentQuietMs ?? null },
    detectorsFile: values.detectors ?? sources.fallbacks?.detectors ?? null,
    history: {
      days: values.historyDays,
      gb: values.historyGb,
      memoryMb: values.historyMemoryMb,
    },
    scores: {
      port: values.scoresPort ?? null,
      series: values.scoresSeries ?? null,
      seriesMax: values.scoresSeriesMax,
    },
    remoteWrite: remoteWriteOf(given),
    modelsDir: values.modelsDir ?? null,
    routes: values.routes ?? null,
    logLevel: given.isSet('logLevel') ? values.logLevel : (sources.fallbacks?.logLevel ?? values.logLevel),
  };
  const named = file.sources.flatMap(({ headers }) => Object.values(headers));
  const known = [...Object.values(options).flatMap(({ env }) => env ?? []), ...named];
  problems.push(...unknownVariables(sources.env, known));
  for (const need of sources.requires) {
    if (need !== 'sourceHeaders' && !given.isSet(need)) given.missing(need, NEEDED[need]);
  }
  for (const side of ['input', 'output'] as const) {
    const { format } = file.stream[side];
    if (format === 'json' || isPointsFormat(format) || given.isSet('registryUrl')) continue;
    given.missing('registryUrl', `set, as ${side}.format is ${format}`);
  }
  return problems.length === 0 ? { kind: 'config', config } : { kind: 'problems', problems };
}

function loadDetectorsFile(given: Given, { readFile, fallbacks }: ConfigSources): DetectorsFile {
  const path = given.values.detectors ?? fallbacks?.detectors;
  if (path === undefined) return noDetectorsFile;
  const content = readNamedFile({ key: given.nameOf('detectors'), path }, readFile, given.problems);
  if (content === null) return noDetectorsFile;
  return readDetectorsFile(path, content, given.problems) ?? noDetectorsFile;
}

interface HeaderReading {
  readonly env: Environment;
  readonly common: Readonly<Record<string, string>>;
  readonly problems: string[];
}

/** The headers of each source with the values of their variables, which are in no problem. */
function sourceHeadersOf({ sources }: DetectorsFile, { env, common, problems }: HeaderReading) {
  return new Map(
    sources.map(({ name, headers }) => {
      const own = Object.entries(headers).map(([header, variable]) => {
        const value = env[variable];
        if (value === undefined || headerValue.parse(value) === undefined) {
          const expected = `the name of a variable that holds ${headerValue.expected}`;
          problems.push(`source ${name}: headers.${header} must be ${expected}, got ${JSON.stringify(variable)}`);
        }
        return [header.toLowerCase(), value ?? ''] as const;
      });
      return [name, { ...common, ...Object.fromEntries(own) }] as const;
    }),
  );
}

function workerLimitsOf(given: Given, file: Partial<WorkerLimits>, processors: number): WorkerLimits {
  const limits = (Object.keys(workerLimits) as (keyof WorkerLimits)[]).map((name) => {
    const value = given.values[name];
    return [name, (given.isSet(name) ? value : (file[name] ?? value)) ?? processors];
  });
  return Object.fromEntries(limits) as WorkerLimits;
}

/** The configuration of this process, from its environment, files and processors. */
export function loadProcessConfig(
  flags: Flags,
  requires: ConfigSources['requires'],
  { detectorsText, ...fallbacks }: CommandFallbacks & { readonly detectorsText?: string | null } = {},
): ConfigResult<LoadedConfig> {
  const path = flags[options.detectors.flag!] ?? process.env[options.detectors.env!] ?? fallbacks.detectors;
  return loadConfig({
    fallbacks,
    flags,
    env: process.env,
    // A version that was saved elsewhere replaces the file.
    readFile: (name) => (name === path && detectorsText != null ? detectorsText : readFileSync(name, 'utf8')),
    processors: availableParallelism(),
    requires,
  });
}

/** The path of the routes file, also where other settings are wrong; null without one. */
export function routesPath(flags: Flags): string | null {
  const sources = { flags, env: process.env, readFile: (name: string) => readFileSync(name, 'utf8') };
  return new GivenOptions({ routes: options.routes }, sources).values.routes ?? null;
}
