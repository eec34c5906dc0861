import type { ConfigResult, LoadedConfig, WorkerLimits } from './config.ts';
import { type ReadFile, readKafka, readNamedFile, readRegistry } from './connections.ts';
import { type DetectorsFile, noDetectorsFile, readDetectorsFile } from './detectors-file.ts';
import { type Environment, type Flags, OptionReader, options } from './options.ts';
import { workerLimits } from './worker-limits.ts';

export interface ConfigSources {
  /** Values of `configFlags`, by flag; other flags are not looked at. */
  readonly flags: Flags;
  readonly env: Environment;
  readonly readFile: ReadFile;
  readonly processors: number;
  /** What the command cannot do without. */
  readonly requires: readonly ('brokers' | 'detectors')[];
}

const NEEDED = {
  brokers: options.brokers.kind.expected,
  detectors: 'the path of a detectors file',
} as const;

/**
 * Reads the configuration: flags win over environment, environment over the detectors file, and what is nowhere has its default.
 * All that is wrong is said at once, and nothing wrong is replaced by a default.
 */
export function loadConfig(sources: ConfigSources): ConfigResult<LoadedConfig> {
  const problems: string[] = [];
  const reader = new OptionReader(sources.flags, sources.env, problems);
  const kafka = readKafka(reader, sources.readFile);
  const registry = readRegistry(reader);
  const groupId = reader.read(options.groupId) ?? 'tidewatch';
  const file = loadDetectorsFile(reader, sources.readFile);
  const config: LoadedConfig = {
    kafka,
    registry,
    stream: { groupId, ...file.stream },
    worker: readWorkerLimits(reader, file.worker, sources.processors),
    opsHost: reader.read(options.opsHost) ?? '127.0.0.1',
    opsPort: reader.read(options.opsPort) ?? 9464,
    dataDir: reader.read(options.dataDir) ?? './data',
    modelsDir: reader.read(options.modelsDir) ?? null,
    logLevel: reader.read(options.logLevel) ?? 'info',
  };
  reader.closeEnvironment();
  for (const need of sources.requires) {
    if (!reader.isSet(options[need])) reader.problem(options[need], NEEDED[need]);
  }
  for (const side of ['input', 'output'] as const) {
    const { format } = file.stream[side];
    if (format === 'json' || reader.isSet(options.registryUrl)) continue;
    reader.problem(options.registryUrl, `set, as ${side}.format is ${format}`);
  }
  return problems.length === 0 ? { kind: 'config', config } : { kind: 'problems', problems };
}

function loadDetectorsFile(reader: OptionReader, readFile: ReadFile): DetectorsFile {
  const path = reader.read(options.detectors);
  if (path === undefined) return noDetectorsFile;
  const content = readNamedFile(reader.nameOf(options.detectors), path, readFile, reader.problems);
  if (content === null) return noDetectorsFile;
  return readDetectorsFile(path, content, reader.problems) ?? noDetectorsFile;
}

function readWorkerLimits(reader: OptionReader, file: Partial<WorkerLimits>, processors: number): WorkerLimits {
  const limits = workerLimits.map((limit) => {
    return [limit.key, reader.read(limit) ?? file[limit.key] ?? limit.fallback ?? processors];
  });
  return Object.fromEntries(limits) as WorkerLimits;
}
