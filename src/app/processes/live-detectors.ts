import { statSync } from 'node:fs';
import type { ConfigResult, KafkaConfig } from '../../config/config.ts';
import type { Config, LoadedConfig } from '../../config/load.ts';
import { type CommandFallbacks, loadProcessConfig } from '../../config/load.ts';
import type { Flags } from '../../config/options/option.ts';
import type { Logger } from '../../ops/logger.ts';
import { newestSaved } from './detectors-topic.ts';
import { type RunningWorker, resolveWithModels } from './run-worker.ts';

/** Interval of checks of the file; every fifth also reads the topic. */
const LOOK_MS = 2_000;
const TOPIC_EVERY = 5;

interface LiveDetectorsOptions {
  readonly flags: Flags;
  readonly config: Config & { readonly kafka: KafkaConfig };
  readonly worker: RunningWorker;
  readonly logger: Logger;
  /** Version that the worker has; 0: the file. */
  readonly version: number;
  /** Fallbacks of the command: its own detectors file, where none is named, and no brokers that must be. */
  readonly fallbacks?: CommandFallbacks;
}

/**
 * Gives the worker the new detectors when the file changes, a newer version is saved, or at SIGHUP. What cannot be
 * used is refused with every reason, and the worker continues as it was. A saved version wins over the file.
 */
export function followDetectors(options: LiveDetectorsOptions): () => void {
  const { config, worker, logger, version } = options;
  const { kafka, detectorsTopic: topic, detectorsFile: path } = config;
  let current: Config = config;
  let held = version;
  let applied = version;
  let seen = changedAt(path);
  let looking = false;
  let looks = 0;

  const apply = async (text: string | null, next: number) => {
    const result = await readAgain(options, current, text);
    if (result.kind === 'problems') {
      worker.metrics.detectorChanges.inc({ outcome: 'refused' });
      logger.error({ problems: result.problems, version: next }, 'the detectors changed and cannot be used');
      return;
    }
    const { config: found, models } = result.config;
    const difference = differenceOf(current, found);
    // A partition that another worker scored by this version waits for it, whether or not it has something new here.
    if (difference === null && next === applied) return;
    const problem = worker.changeDetectors(found.stream.detectors, { models, version: next });
    worker.metrics.detectorChanges.inc({ outcome: problem === null ? 'applied' : 'refused' });
    if (problem === null) logger.info({ ...difference, version: next }, 'the detectors changed');
    else logger.error({ problems: [problem], version: next }, 'the detectors changed and cannot be used');
    if (problem === null) [current, applied] = [found, next];
  };
  const look = async (forced: boolean) => {
    if (looking) return;
    looking = true;
    try {
      const saved = forced || ++looks % TOPIC_EVERY === 0 ? await newestSaved(kafka, topic) : null;
      const at = changedAt(path);
      const fileChanged = forced || at !== seen;
      seen = at;
      if (saved !== null && saved.version > held) {
        held = saved.version;
        await apply(saved.text, held);
      } else if (fileChanged && held === 0) await apply(null, 0);
    } catch (error) {
      logger.warn({ err: error }, 'the detectors could not be read');
    } finally {
      looking = false;
    }
  };
  // Where none was read before the start, there may be one that partitions were scored by.
  if (version === 0) void look(true);
  const timer = setInterval(() => void look(false), LOOK_MS);
  const onHangUp = () => void look(true);
  process.on('SIGHUP', onHangUp);
  return () => {
    clearInterval(timer);
    process.off('SIGHUP', onHangUp);
  };
}

function changedAt(path: string | null): number {
  return path === null ? 0 : (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/** The configuration with other detectors, or why it cannot take effect in a process that runs. */
async function readAgain(
  { flags, fallbacks }: LiveDetectorsOptions,
  current: Config,
  text: string | null,
): Promise<
  ConfigResult<{ readonly config: Config; readonly models: Awaited<ReturnType<typeof resolveWithModels>>['models'] }>
> {
  const requires = fallbacks === undefined ? (['brokers', 'detectors'] as const) : [];
  const loaded = loadProcessConfig(flags, requires, { ...fallbacks, detectorsText: text });
  if (loaded.kind === 'problems') return loaded;
  const problems = fixedParts(current, loaded.config);
  if (problems.length > 0) return { kind: 'problems', problems };
  const { models, result } = await resolveWithModels(loaded.config);
  return result.kind === 'problems' ? result : { kind: 'config', config: { config: result.config, models } };
}

/** Parts of the file that take effect at a start only. */
function fixedParts(current: Config, { stream, worker }: LoadedConfig): string[] {
  const changed = (name: string, before: unknown, after: unknown) =>
    JSON.stringify(before) === JSON.stringify(after) ? [] : [`${name} changed: that needs a restart`];
  return [
    ...changed('topics', current.stream.topics, stream.topics),
    ...changed('input', current.stream.input, stream.input),
    ...changed('output', current.stream.output, stream.output),
    ...changed('worker', current.worker, worker),
  ];
}

/** Names of the detectors that were added, removed and changed; null if nothing differs. */
function differenceOf({ stream: { detectors: before } }: Config, { stream: { detectors: after } }: Config) {
  const textOf = (detectors: Config['stream']['detectors']) =>
    new Map(detectors.map((detector) => [detector.name, JSON.stringify(detector)]));
  const [was, is] = [textOf(before), textOf(after)];
  const added = [...is.keys()].filter((name) => !was.has(name));
  const removed = [...was.keys()].filter((name) => !is.has(name));
  const changed = [...is.keys()].filter((name) => was.has(name) && was.get(name) !== is.get(name));
  const reordered = JSON.stringify([...was.keys()]) !== JSON.stringify([...is.keys()]);
  return added.length + removed.length + changed.length === 0 && !reordered ? null : { added, removed, changed };
}
