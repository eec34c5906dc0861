import type { HistoryFeed, HistoryProblem, HistoryReader, HistoryState } from '../../history/port/history-port.ts';
import type { Deployment } from '../../records/changes/deployment.ts';
import type { Deployments } from '../../records/changes/deployments.ts';
import type { Diagnostic } from '../../records/diagnostics/diagnostic.ts';
import type { DetectorVersion } from '../../store/detector-versions.ts';
import { HttpProblem } from '../wire/problem.ts';

/** A detector of the current detectors file. */
export interface DescribedDetector {
  readonly name: string;
  readonly series: readonly string[];
  readonly group: string | null;
  readonly model: string;
  /** By their names in the detectors file. */
  readonly settings: Readonly<Record<string, string | number | boolean | null>>;
  /** State of other digests starts over. */
  readonly digest: string;
  /** Target rate: false alarms a week for each series (or group); null if alarms are off. */
  readonly alarmsPerWeek: number | null;
}

/** The detectors that workers score by. */
export interface DetectorsPort {
  /** The text of the detectors file of this process, which counts until a version is saved. */
  fileText(): Promise<string>;
  /** The detectors of a text, or every problem of it. */
  describe(
    text: string,
  ): Promise<
    | { readonly kind: 'detectors'; readonly detectors: readonly DescribedDetector[] }
    | { readonly kind: 'problems'; readonly problems: readonly string[] }
  >;
  /** Publishes the next version to workers; null if they do not listen. */
  readonly publish: ((next: DetectorVersion) => Promise<void>) | null;
}

interface WorkerPartition {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number | null;
  readonly endOffset: number;
  readonly owner: string | null;
}

interface ClusterPort {
  /** Ends of the partitions that the history reads. */
  historyEnds(): Promise<
    readonly { readonly source: string; readonly partition: number; readonly endOffset: number }[]
  >;
  workers(): Promise<{
    readonly group: string;
    readonly members: number;
    readonly partitions: readonly WorkerPartition[];
  }>;
  /** Diagnostics of the workers about their input. */
  diagnostics(): Promise<readonly Diagnostic[]>;
  /** Writes a record to the input topic. */
  redrive(record: {
    readonly partition: number;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
  }): Promise<void>;
}

/** Changes that people and programs reported. */
export interface ChangesPort {
  readonly known: Deployments;
  /** Resolves when Kafka has it; then it is known here. @param change null takes it back */
  write(id: string, change: Deployment | null): Promise<void>;
}

/** Scores, events and workers that the service reads from Kafka. */
export interface Operations {
  readonly reader: HistoryReader;
  readonly feed: HistoryFeed;
  readonly bounds: { readonly days: number; readonly gb: number };
  /** Topic of each source. */
  readonly topics: Readonly<Record<string, string>>;
  /** Ids are made by a template (`input.id`): they do not give the labels of their series. */
  readonly idsHideLabels: boolean;
  /** Why nothing is added to the history now, and since when; null while all is well. */
  problem(): HistoryProblem | null;
  /** Kafka clusters whose histories are kept here, too, and not shown. */
  otherClusters(): readonly string[];
  readonly detectors: DetectorsPort;
  readonly changes: ChangesPort;
  readonly cluster: ClusterPort;
}

export const NO_HISTORY: HistoryState = {
  positions: [],
  series: 0,
  scores: 0,
  events: 0,
  bytes: 0,
  oldestMs: null,
  deadLetters: [],
};

/** Throws an HttpProblem where the service does not read the stream. */
export function operationsOf(operations: Operations | null): Operations {
  if (operations !== null) return operations;
  throw noStream();
}

export function noStream(): HttpProblem {
  return new HttpProblem(404, 'This service reads no stream: set KAFKA_BROKERS. A backtest needs none');
}
