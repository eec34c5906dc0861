import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { ConfigResult, LoadedConfig, LogLevel, Topics, WorkerLimits } from './config.ts';
import { readKafka, readRegistry } from './connections.ts';
import { type DetectorsFile, noDetectorsFile, readDetectorsFile, type WrittenTopics } from './detectors-file.ts';
import { readHttp } from './http-config.ts';
import { type ReadFile, readNamedFile } from './named-file.ts';
import { type Environment, type Flags, OptionReader } from './option-reader.ts';
import { options, workerLimits } from './options.ts';
import { readSecret } from './secrets.ts';

export interface ConfigSources {
  /** Flags that only one command has are ignored. */
  readonly flags: Flags;
  readonly env: Environment;
  readonly readFile: ReadFile;
  readonly processors: number;
  /** Options that the command requires. */
  readonly requires: readonly ('brokers' | 'detectors' | 'routes')[];
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
} as const;

/** The changelog of all groups, before its name contained the group id. For the default group both are the same. */
const EARLIER_CHANGELOG = 'tidewatch-changelog';

function withChangelog(
  groupId: string,
  topics: WrittenTopics,
): { readonly topics: Topics; readonly earlierChangelog: string | null } {
  const changelog = topics.changelog ?? `${groupId.replaceAll(/[^a-zA-Z0-9._-]/g, '-').slice(0, 239)}-changelog`;
  const isEarlier = topics.changelog !== null || changelog === EARLIER_CHANGELOG;
  return { topics: { ...topics, changelog }, earlierChangelog: isEarlier ? null : EARLIER_CHANGELOG };
}

const STORE_URL = { value: options.storeUrl, file: options.storeUrlFile };
const HISTORY_URL = { value: options.historyUrl, file: options.historyUrlFile };

/**
 * Reads the configuration: flags win over environment, environment over the detectors file, the file over defaults.
 * Reports all problems at once. A wrong value is never replaced by a default.
 */
export function loadConfig(sources: ConfigSources): ConfigResult<LoadedConfig> {
  const reader = new OptionReader(sources.flags, sources.env);
  const kafka = readKafka(reader, sources.readFile);
  const registry = readRegistry(reader, sources.readFile);
  const groupId = reader.readOr(options.groupId);
  const groupInstanceId = reader.read(options.groupInstanceId) ?? null;
  const file = loadDetectorsFile(reader, sources);
  const config: LoadedConfig = {
    kafka,
    registry,
    stream: { groupId, groupInstanceId, ...file.stream, ...withChangelog(groupId, file.stream.topics) },
    worker: readWorkerLimits(reader, file.worker, sources.processors),
    http: readHttp(reader, sources.readFile),
    opsHost: reader.readOr(options.opsHost),
    opsPort: reader.readOr(options.opsPort),
    dataDir: reader.readOr(options.dataDir),
    storeUrl: readSecret(reader, STORE_URL, sources.readFile) ?? null,
    detectorsTopic: reader.readOr(options.detectorsTopic),
    detectorsFile: reader.read(options.detectors) ?? sources.fallbacks?.detectors ?? null,
    history: {
      days: reader.readOr(options.historyDays),
      gb: reader.readOr(options.historyGb),
      url: readSecret(reader, HISTORY_URL, sources.readFile) ?? null,
    },
    modelsDir: reader.read(options.modelsDir) ?? null,
    routes: reader.read(options.routes) ?? null,
    logLevel: reader.read(options.logLevel) ?? sources.fallbacks?.logLevel ?? options.logLevel.fallback,
  };
  reader.checkEnvironment();
  for (const need of sources.requires) {
    if (!reader.isSet(options[need])) reader.problem(options[need], NEEDED[need]);
  }
  for (const side of ['input', 'output'] as const) {
    const { format } = file.stream[side];
    if (format === 'json' || reader.isSet(options.registryUrl)) continue;
    reader.problem(options.registryUrl, `set, as ${side}.format is ${format}`);
  }
  const { problems } = reader;
  return problems.length === 0 ? { kind: 'config', config } : { kind: 'problems', problems };
}

function loadDetectorsFile(reader: OptionReader, { readFile, fallbacks }: ConfigSources): DetectorsFile {
  const path = reader.read(options.detectors) ?? fallbacks?.detectors;
  if (path === undefined) return noDetectorsFile;
  const content = readNamedFile({ key: reader.nameOf(options.detectors), path }, readFile, reader.problems);
  if (content === null) return noDetectorsFile;
  return readDetectorsFile(path, content, reader.problems) ?? noDetectorsFile;
}

function readWorkerLimits(reader: OptionReader, file: Partial<WorkerLimits>, processors: number): WorkerLimits {
  const limits = Object.entries(workerLimits).map(([name, limit]) => {
    return [name, reader.read(limit) ?? file[name as keyof WorkerLimits] ?? limit.fallback ?? processors];
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
    // A version that was saved elsewhere stands in place of the file.
    readFile: (name) => (name === path && detectorsText != null ? detectorsText : readFileSync(name, 'utf8')),
    processors: availableParallelism(),
    requires,
  });
}
