import { createRecordDecoder } from '../../../codecs/observations/record-decoder.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { detectorsOfStream, matchDetectors } from '../../../engine/unit/loaded-detector.ts';
import { readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { readTail } from '../../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { Diagnostic } from '../../../records/diagnostics/diagnostic.ts';
import { InputCounts, judgeInput } from '../../../records/diagnostics/input-watch.ts';
import { shadowedGlobs } from '../../../records/diagnostics/shadowed-globs.ts';

const SERIES_MEASURED_MAX = 100_000;
/** Records at the ends of all partitions in which the newest one of each series is searched. */
const TAIL_RECORDS = 20_000;

type Detectors = LoadedConfig['stream']['detectors'];

/** Newest time of each series in a topic of JSON records; empty if the topic may not be read. */
export async function newestWritten(
  connection: KafkaConnection,
  { input, detectors, topics: { observations: topic } }: LoadedConfig['stream'],
): Promise<ReadonlyMap<string, number>> {
  const newestMs = new Map<string, number>();
  const { groupSourceOf } = detectorsOfStream({ detectors, input });
  const decoder = createRecordDecoder(input, { groupSourceOf });
  try {
    const ends = (await readTopicEnds(connection, [topic])).get(topic) ?? [];
    const recordsMax = Math.ceil(TAIL_RECORDS / ends.length);
    for (const { partition, endOffset } of ends) {
      if (endOffset === 0) continue;
      for (const { value, headers } of await readTail(connection, { topic, partition, recordsMax })) {
        const decoded = value === null ? null : decoder.decode({ value, headers }, Date.now());
        if (decoded?.kind !== 'observation') continue;
        const series = decoded.source ?? decoded.series;
        newestMs.set(series, Math.max(decoded.timestampMs, newestMs.get(series) ?? decoded.timestampMs));
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
  return newestMs;
}

/** Compares sent observations with the steps that the detectors expect, and with what was written before. */
export class SentSteps {
  readonly #detectors: Detectors;
  readonly #detectorOf;
  readonly #counts = new InputCounts();
  readonly #newestMs = new Map<string, number>();
  readonly #written;
  #sent = 0;
  #repeated = 0;

  constructor(detectors: Detectors, written: ReadonlyMap<string, number>) {
    this.#detectors = detectors;
    this.#written = written;
    this.#detectorOf = matchDetectors(detectors.map((config) => ({ config })));
  }

  add(series: string, timestampMs: number): void {
    this.#sent++;
    if (timestampMs <= (this.#written.get(series) ?? Number.NEGATIVE_INFINITY)) this.#repeated++;
    const found = this.#detectorOf(series);
    const newestMs = this.#newestMs.get(series);
    if (found === null || (newestMs === undefined && this.#newestMs.size >= SERIES_MEASURED_MAX)) return;
    this.#newestMs.set(series, timestampMs);
    const { name, settings } = found.config;
    this.#counts.of(name, settings.freq).accept(timestampMs - (newestMs ?? Number.NaN), 0);
  }

  /** null if all of them are newer than what was there. */
  repeatedText(topic: string): string | null {
    if (this.#repeated === 0) return null;
    const counts = `${this.#repeated} of ${this.#sent} observations are not newer`;
    return `${counts} than what ${topic} already has of their series: workers drop duplicates and late ones`;
  }

  diagnostics(): Diagnostic[] {
    return [...shadowedGlobs(this.#detectors), ...judgeInput(this.#counts)];
  }
}
