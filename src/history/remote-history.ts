import type { MessagePort, Worker } from 'node:worker_threads';
import { ServiceError } from '../ops/service-error.ts';
import type { HistoryFeed, HistoryProblem, HistoryReader, LiveSecond } from './port/history-port.ts';

/** Methods that are called over a port. Names and arguments are checked by the types of both ends. */
const READS = [
  'listSeries',
  'scores',
  'listEvents',
  'findEvent',
  'listIncidents',
  'findIncident',
  'mergedInto',
  'listGroups',
  'published',
  'detectors',
  'listDeadLetters',
  'findDeadLetter',
  'state',
  'standing',
] as const satisfies readonly (keyof HistoryReader)[];

type HistoryRead = (typeof READS)[number];

export type HistoryQuestion =
  | { readonly kind: 'read'; readonly id: number; readonly read: HistoryRead; readonly args: readonly unknown[] }
  /** Seconds are sent while somebody reads them. */
  | { readonly kind: 'watch'; readonly watched: boolean; readonly follow: readonly string[] }
  | { readonly kind: 'stop' };

export type HistoryMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  | { readonly kind: 'second'; readonly second: LiveSecond }
  /** Scores that were stored since the last such message. */
  | { readonly kind: 'stored'; readonly scores: number }
  /** Why nothing is added now; null while all is well. */
  | { readonly kind: 'problem'; readonly problem: string | null }
  /** Clusters of histories in the same folder, which are not shown. */
  | { readonly kind: 'clusters'; readonly others: readonly string[] }
  /** A live input has stopped; null when observations arrive. */
  | { readonly kind: 'input'; readonly stopped: HistoryProblem | null };

interface WaitingRead {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

type Listener = (second: LiveSecond) => void;

/** A history that another thread keeps: reads and live seconds come over a port. */
export class RemoteHistory implements HistoryFeed {
  readonly reader: HistoryReader;
  /** Kafka clusters of histories in the same folder, which are not shown. */
  otherClusters: readonly string[] = [];
  #port: Worker | MessagePort | null = null;
  readonly #waiting = new Map<number, WaitingRead>();
  readonly #listeners = new Map<Listener, string | null>();
  #nextId = 0;
  #problem: HistoryProblem | null = { reason: 'the history is starting', sinceMs: Date.now(), due: null };
  #stopped: HistoryProblem | null = null;

  constructor() {
    const calls = READS.map((read) => [read, (...args: readonly unknown[]) => this.#read(read, args)]);
    this.reader = Object.fromEntries(calls) as unknown as HistoryReader;
  }

  get problem(): HistoryProblem | null {
    return this.#problem ?? this.#stopped;
  }

  /** The thread that keeps the history from now on; null: none does, for a reason. */
  connect(port: Worker | MessagePort | null, problem: string | null = 'the history is starting'): void {
    this.#port = port;
    this.#stopped = null;
    this.#note(problem);
    for (const { reject } of this.#waiting.values()) reject(unavailable(problem));
    this.#waiting.clear();
    this.#watch();
  }

  accept(message: HistoryMessage): void {
    if (message.kind === 'answer') this.#settle(message.id, ({ resolve }) => resolve(message.value));
    else if (message.kind === 'failed') this.#settle(message.id, ({ reject }) => reject(unavailable(message.reason)));
    else if (message.kind === 'problem') this.#note(message.problem);
    else if (message.kind === 'clusters') this.otherClusters = message.others;
    else if (message.kind === 'input') this.#stopped = message.stopped;
    else if (message.kind === 'second') for (const listener of [...this.#listeners.keys()]) listener(message.second);
  }

  subscribe(listener: Listener, followed: string | null): () => void {
    this.#listeners.set(listener, followed);
    this.#watch();
    return () => {
      this.#listeners.delete(listener);
      this.#watch();
    };
  }

  /** Another reason belongs to the same problem, which counts from its start. */
  #note(reason: string | null): void {
    this.#problem = reason === null ? null : { reason, sinceMs: this.#problem?.sinceMs ?? Date.now(), due: null };
  }

  #watch(): void {
    const follow = [...new Set([...this.#listeners.values()].filter((series) => series !== null))];
    this.#port?.postMessage({ kind: 'watch', watched: this.#listeners.size > 0, follow } satisfies HistoryQuestion);
  }

  #settle(id: number, how: (waiting: WaitingRead) => void): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) how(waiting);
  }

  #read(read: HistoryRead, args: readonly unknown[]): Promise<unknown> {
    const port = this.#port;
    if (port === null) return Promise.reject(unavailable(this.#problem?.reason ?? null));
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      port.postMessage({ kind: 'read', id, read, args } satisfies HistoryQuestion);
    });
  }
}

function unavailable(reason: string | null): ServiceError {
  return new ServiceError('history-unavailable', `The history cannot be read: ${reason ?? 'it ended'}`, {
    retryable: true,
  });
}
