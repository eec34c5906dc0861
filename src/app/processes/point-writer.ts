import type { KafkaConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type CommandFallbacks, loadProcessConfig } from '../../config/load.ts';
import type { Flags } from '../../config/options/option.ts';
import { detectorsOfStream } from '../../engine/unit/loaded-detector.ts';
import type { Logger } from '../../ops/logger.ts';
import type { PointWriter } from '../../pipelines/receive/received-records.ts';
import { newestSaved } from './detectors-topic.ts';

/** Interval of checks of the saved detectors, or the file. */
const LOOK_MS = 10_000;

export interface PointWriterOptions {
  readonly config: Pick<LoadedConfig, 'stream' | 'detectorsTopic'>;
  readonly kafka: KafkaConfig;
  readonly flags: Flags;
  /** The command's own detectors file, where none is named. */
  readonly fallbacks?: CommandFallbacks;
  readonly logger: Logger;
}

/**
 * What decides which points become records: where there are detectors, those of series that they watch. `onWriter` is
 * called at once, and whenever the detectors may have changed. Returns what ends that.
 */
export function followPointWriter(options: PointWriterOptions, onWriter: (writer: PointWriter) => void): () => void {
  const { config, kafka, flags, fallbacks, logger } = options;
  let version = 0;
  const look = async () => {
    const saved = await newestSaved(kafka, config.detectorsTopic);
    const loaded = loadProcessConfig(flags, [], { ...fallbacks, detectorsText: saved?.text ?? null });
    if (loaded.kind === 'problems') {
      logger.warn({ problems: loaded.problems }, 'the detectors changed and cannot be used');
      return;
    }
    if ((saved?.version ?? 0) < version) return;
    version = saved?.version ?? 0;
    onWriter(writerOf(loaded.config.stream));
  };
  onWriter(writerOf(config.stream));
  const timer = setInterval(() => {
    look().catch((err: unknown) => logger.warn({ err }, 'the detectors could not be read'));
  }, LOOK_MS);
  return () => clearInterval(timer);
}

function writerOf({ input: mapping, detectors }: LoadedConfig['stream']): PointWriter {
  const { detectorOf, groupSourceOf } = detectorsOfStream({ detectors, input: mapping });
  const groupPathOf = (series: string) => {
    return detectors.length === 0 || detectorOf(series) !== null ? groupSourceOf(series) : 'unwatched';
  };
  return { mapping, groupPathOf };
}
