import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { ConfigResult, StreamConfig, Topics, WrittenStream } from './config.ts';
import { type Given, httpOf, kafkaOf, prometheusHeadersOf, registryOf, remoteWriteOf } from './connections.ts';
import { type DetectorsFile, noDetectorsFile, readDetectorsFile, type WrittenTopics } from './detectors-file.ts';
import { type Environment, type Flags, GivenOptions, type OptionSources } from './options/option.ts';
import type { LogLevel } from './options/option-kinds.ts';
import { headerValue } from './options/option-kinds.ts';
import type { WorkerLimits } from './options/options.ts';
import { options, workerLimits } from './options/options.ts';
import { isPointsFormat } from './rekeyed-input.ts';
import { readNamedFile } from './schema/named-file.ts';
import { nearestOf, notKnown } from './schema/problems.ts';
import { topicNameOf } from './topic-name.ts';

/** Flags that only one command has are ignored. */
export interface ConfigSources extends OptionSources {
  readonly processors: number;
  readonly requires: readonly ('brokers' | 'detectors' | 'routes' | 'remoteWriteUrl' | 'sourceHeaders')[];
  readonly fallbacks?: CommandFallbacks;
}

export interface CommandFallbacks {
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

/** The configuration before models are known. Without a detectors file it has defaults, and no detectors. */
export type LoadedConfig = ReturnType<typeof configOf>;

/** The configuration with detectors that have the limits of their models. */
export interface Config extends Omit<LoadedConfig, 'stream'> {
  readonly stream: StreamConfig;
}

/**
 * Reads the configuration: flags win over environment, environment over the detectors file, the file over defaults.
 * Reports all problems at once. A wrong value is never replaced by a default.
 */
export function loadConfig(sources: ConfigSources): ConfigResult<LoadedConfig> {
  const given = new GivenOptions(options, sources);
  const file = loadDetectorsFile(given, sources);
  const config = configOf(given, file, sources);
  const { problems } = given;
  const named = file.sources.flatMap(({ headers }) => Object.values(headers));
  const known = [...Object.values(options).flatMap(({ env }) => env ?? []), ...named];
  problems.push(...unknownVariables(sources.env, known));
  for (const need of sources.requires) {
    if (need !== 'sourceHeaders' && !given.isSet(need)) given.missing(need, NEEDED[need]);
  }
  for (const side of ['input', 'output'] as const) {
    const { format } = file.stream[side];
    if (format === 'json' || isPointsFormat(format) || given.isSet('registryUrl')) continue;
    given.missing('registryUrl', `set, because ${side}.format is ${format}`);
  }
  return problems.length === 0 ? { kind: 'config', config } : { kind: 'problems', problems };
}

function configOf(given: Given, file: DetectorsFile, { env, requires, processors, fallbacks }: ConfigSources) {
  const { values, problems } = given;
  const { groupId, groupInstanceId = null } = values;
  const stream: WrittenStream = {
    groupId,
    groupInstanceId,
    ...file.stream,
    ...withChangelog(groupId, file.stream.topics),
  };
  return {
    /** null if no brokers were named. */
    kafka: kafkaOf(given),
    registry: registryOf(given),
    /** Headers of requests to any Prometheus, which are secrets. */
    prometheusHeaders: prometheusHeadersOf(given),
    /** The same of each source, by its name, with its own; read where a command requires them. */
    sourceHeaders: requires.includes('sourceHeaders')
      ? sourceHeadersOf(file, { env, common: prometheusHeadersOf(given), problems })
      : new Map<string, Readonly<Record<string, string>>>(),
    stream,
    sources: file.sources,
    dependsOn: file.dependsOn,
    worker: workerLimitsOf(given, file.worker, processors),
    http: httpOf(given),
    grpcPort: values.grpcPort === 'off' ? null : values.grpcPort,
    opsHost: values.opsHost,
    opsPort: values.opsPort,
    /** True if the next free port is used when another program has this one. */
    opsPortMoves: !given.isSet('opsPort'),
    dataDir: values.dataDir,
    /** null: the store is SQLite in `dataDir`. It may hold a password. */
    storeUrl: values.storeUrl ?? null,
    detectorsTopic: values.detectorsTopic,
    changesTopic: values.changesTopic,
    incidents: { topic: values.incidentsTopic, quietMs: values.incidentQuietMs ?? null },
    detectorsFile: values.detectors ?? fallbacks?.detectors ?? null,
    history: { days: values.historyDays, gb: values.historyGb, memoryMb: values.historyMemoryMb },
    scores: {
      port: values.scoresPort ?? null,
      series: values.scoresSeries ?? null,
      seriesMax: values.scoresSeriesMax,
    },
    remoteWrite: remoteWriteOf(given),
    modelsDir: values.modelsDir ?? null,
    routes: values.routes ?? null,
    logLevel: given.isSet('logLevel') ? values.logLevel : (fallbacks?.logLevel ?? values.logLevel),
  };
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

/** This prefix is ours alone: every variable that has it must be known. */
const OUR_PREFIX = 'TIDEWATCH_';
/** Kubernetes sets such variables in every container for a service of our name. */
const isServiceLink = (name: string, value: string | undefined) =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value ?? '');
/** A variable that differs from a known one by at most so many letters is a typing error. */
const SLIP_LETTERS_MAX = 2;

/** Variables of earlier releases, and what replaces them. */
const REMOVED: Readonly<Record<string, string>> = {
  HISTORY_URL: 'each serve keeps its own history in DATA_DIR and fills it from Kafka: unset it',
  HISTORY_URL_FILE: 'each serve keeps its own history in DATA_DIR and fills it from Kafka: unset it',
};

/** Problems of removed and misspelt variables. Kafka's tools share other prefixes: near misses alone are reported. */
function unknownVariables(env: Environment, known: readonly string[]): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (known.includes(name) || isServiceLink(name, value)) return [];
    if (Object.hasOwn(REMOVED, name)) return [`${name} was removed: ${REMOVED[name]}`];
    if (name.startsWith(OUR_PREFIX)) {
      const meant = known.find((env) => env === name.slice(OUR_PREFIX.length));
      return [notKnown(name, 'variable', meant ?? nearestOf(name, known))];
    }
    const nearest = /^(KAFKA|SCHEMA_REGISTRY)_/.test(name) ? nearestOf(name, known, SLIP_LETTERS_MAX) : null;
    return nearest === null ? [] : [notKnown(name, 'variable', nearest)];
  });
}
