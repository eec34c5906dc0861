import type { PointRecords, RecordsOfPoints } from '../../codecs/points/point-records.ts';
import type { DecodedPoints } from '../../codecs/points/series-points.ts';
import type { PrometheusSource } from '../../config/keys/source-keys.ts';
import type { OutputRecord, PartitionSession, StreamLog } from '../../engine/log/log.ts';
import { ServiceError } from '../../ops/service-error.ts';
import {
  type AskedSteps,
  failed,
  nextPoll,
  PARTIAL_ATTEMPTS_MAX,
  partial,
  polled,
  type SourceState,
  sourceState,
  tooLarge,
} from './poll-plan.ts';
import { decodeSourcePosition, encodeSourcePosition, positionKey } from './position-record.ts';
import type { QueryRange } from './query-range.ts';
import type { RangeAnswer } from './range-answer.ts';

/** Steps of all sources are looked for at least so often: the clock may be set. */
const WAIT_MS_MAX = 10_000;
const REOPEN_MS = 1_000;
/** Remarks that are reported. Further ones, such as of a query that names other series each time, are not. */
const ANNOTATIONS_MAX = 100;
/** Refusals of Kafka that last less long are retried without a log line, such as while a coordinator starts. */
const TROUBLE_MS = 5_000;
/** Reasons of refused points that are logged of one answer. */
const REASONS_MAX = 20;

interface PollerOptions {
  readonly sources: readonly PrometheusSource[];
  readonly rangesOf: (source: PrometheusSource) => QueryRange;
  /** Positions are its changelog, of one partition. Opening it fences an earlier poller. */
  readonly log: Pick<StreamLog, 'openPartition'>;
  readonly positionsTopic: string;
  readonly inputTopic: string;
  /** The partition of the input for a key; requested whenever the log is opened. */
  readonly partitioner: () => Promise<(key: Buffer) => number>;
  /** By the newest detectors. */
  readonly recordsOf: () => RecordsOfPoints;
  readonly nowMs: () => number;
  /** Resolves after some milliseconds, or earlier when `signal` aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly reports: PollReports;
}

export interface PollReports {
  written(source: string, points: WrittenPoints): void;
  /** Event time that is there and was not written yet; whenever something may have changed. */
  behind(source: string, ms: number): void;
  /** An answer was unusable; it is requested again. */
  failed(source: string, detail: string): void;
  /** A remark about the query of a source, once for each text. */
  annotated(source: string, text: string): void;
  /** An answer stays partial after all retries, and was accepted. */
  acceptedPartial(source: string, detail: string): void;
  /** Kafka has not accepted what was polled for a while (`error`), or accepts it (`null`). */
  log(error: Error | null): void;
}

interface WrittenPoints {
  readonly accepted: number;
  readonly unwatched: number;
  readonly refused: number;
  readonly missing: number;
  readonly reasons: readonly string[];
}

/**
 * Polls queries into the input topic. The records of some steps and the positions after them are one transaction, so
 * that no step is written twice or left out, whenever a poller ends and another one begins.
 */
export class Poller {
  readonly #options: PollerOptions;
  #states = new Map<string, SourceState>();
  #logTrouble: string | null = 'the positions of the sources are not read yet';
  #failingSinceMs: number | null = null;
  readonly #annotations = new Set<string>();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Why sources are not polled at present, one sentence each. */
  reasonsNotReady(): readonly string[] {
    if (this.#logTrouble !== null) return [this.#logTrouble];
    return [...this.#states.values()].flatMap(({ source, trouble }) =>
      trouble === null ? [] : [`source ${source.name}: ${trouble}`],
    );
  }

  /** Polls until `signal` aborts. Rejects with `fenced` once another poller took over, and where Kafka refuses. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#session(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ServiceError) || !error.retryable) throw error;
        this.#refused(error);
        await this.#options.wait(REOPEN_MS, signal);
      }
    }
  }

  #refused(error: Error): void {
    const nowMs = this.#options.nowMs();
    this.#failingSinceMs ??= nowMs;
    if (nowMs - this.#failingSinceMs < TROUBLE_MS || error.message === this.#logTrouble) return;
    this.#logTrouble = error.message;
    this.#options.reports.log(error);
  }

  #accepted(): void {
    this.#failingSinceMs = null;
    if (this.#logTrouble === null) return;
    this.#logTrouble = null;
    this.#options.reports.log(null);
  }

  async #session(signal: AbortSignal): Promise<void> {
    const { log, partitioner, reports } = this.#options;
    const session = await log.openPartition(0, signal, (error) => this.#refused(error));
    try {
      // What a commit that failed has written is known only now.
      this.#states = await this.#restore(session);
      const partitionOf = await partitioner();
      this.#accepted();
      for (let commits = session.committedOffset ?? 0; !signal.aborted; ) {
        const nowMs = this.#options.nowMs();
        for (const { source, nextMs } of this.#states.values()) {
          reports.behind(source.name, Math.max(0, nowMs - source.delayMs - nextMs));
        }
        const plan = nextPoll([...this.#states.values()], nowMs);
        if (plan.kind === 'wait') {
          await this.#options.wait(Math.min(Math.max(plan.ms, 1), WAIT_MS_MAX), signal);
        } else if (await this.#poll(plan.asked, { session, partitionOf, offset: commits + 1 }, signal)) commits++;
      }
    } finally {
      await session.close();
    }
  }

  async #restore(session: PartitionSession): Promise<Map<string, SourceState>> {
    const positions = new Map<string, Buffer | null>();
    await session.readChangelog((key, value) => void positions.set(String(key), value && Buffer.from(value)));
    const nowMs = this.#options.nowMs();
    return new Map(
      this.#options.sources.map((source) => {
        const written = positions.get(String(positionKey(source.name))) ?? null;
        const positionMs = decodeSourcePosition(written);
        if (written !== null && positionMs === null) {
          const text = `The position of source ${source.name} in ${this.#options.positionsTopic} cannot be read`;
          throw new ServiceError('configuration', `${text}: another version wrote it. Give the source another name`);
        }
        const before = this.#states.get(source.name);
        const state = sourceState(source, positionMs ?? before?.nextMs ?? null, nowMs);
        // After a failure of Kafka it is known still how Prometheus answers.
        return [source.name, before === undefined ? state : { ...before, nextMs: state.nextMs }];
      }),
    );
  }

  /** True if steps were written: those of all sources, or none. */
  async #poll(all: readonly AskedSteps[], target: PollTarget, signal: AbortSignal): Promise<boolean> {
    const answers: AnsweredSteps[] = [];
    for (const asked of all) {
      const answer = await this.#ask(asked, signal);
      if (answer === null) return false;
      answers.push({ ...asked, ...answer });
    }
    await this.#write(answers, target);
    return true;
  }

  /** null if the answer is of no use. */
  async #ask({ state, fromMs, toMs }: AskedSteps, signal: AbortSignal): Promise<Answered | null> {
    const { source } = state;
    const { name, query, stepMs } = source;
    const answer = await this.#options.rangesOf(source)({ name, query, stepMs, fromMs, toMs }, signal);
    const nowMs = this.#options.nowMs();
    if (answer.kind === 'answered' && answer.partial === null) return answer;
    if (answer.kind === 'answered') {
      const detail = `its answer is partial: ${answer.partial}`;
      if (state.partials + 1 >= PARTIAL_ATTEMPTS_MAX) {
        this.#options.reports.acceptedPartial(name, detail);
        return answer;
      }
      this.#options.reports.failed(name, detail);
      this.#states.set(name, partial(state, { detail, nowMs }));
      return null;
    }
    const { detail } = answer;
    const steps = (toMs - fromMs) / stepMs + 1;
    const after =
      answer.kind === 'failed' ? failed(state, { detail, nowMs }) : tooLarge(state, steps, { detail, nowMs });
    if (after.failures > state.failures) this.#options.reports.failed(name, detail);
    this.#states.set(name, after);
    return null;
  }

  async #write(answers: readonly AnsweredSteps[], { session, partitionOf, offset }: PollTarget): Promise<void> {
    const { inputTopic, positionsTopic, recordsOf, reports, nowMs } = this.#options;
    const made = answers.map(({ points }) => [recordsOf()({ ...points, series: [] }, nowMs())]);
    const outputs: OutputRecord[] = [];
    for (const { answer, series } of byTime(answers)) {
      const records = recordsOf()({ series, missing: 0, refused: 0, reasons: [] }, nowMs());
      made[answer].push(records);
      for (const { key, value } of records.records) {
        outputs.push({ topic: inputTopic, partition: partitionOf(key), key, value });
      }
    }
    const states = answers.map(({ state, toMs }) => polled(state, toMs));
    for (const { source, nextMs } of states) {
      const position = { key: positionKey(source.name), value: encodeSourcePosition(nextMs) };
      outputs.push({ topic: positionsTopic, partition: 0, ...position });
    }
    await session.commit(outputs, offset);
    this.#accepted();
    for (const [i, state] of states.entries()) {
      const { name } = state.source;
      this.#states.set(name, state);
      for (const text of answers[i].annotations) this.#annotated(name, text);
      const sum = (of: (one: PointRecords) => number) => made[i].reduce((total, one) => total + of(one), 0);
      reports.written(name, {
        accepted: sum(({ records }) => records.length),
        unwatched: sum(({ unwatched }) => unwatched),
        refused: sum(({ refused }) => refused),
        missing: answers[i].points.missing,
        reasons: made[i].flatMap(({ reasons }) => reasons).slice(0, REASONS_MAX),
      });
    }
  }

  #annotated(source: string, text: string): void {
    const key = `${source} ${text}`;
    if (this.#annotations.has(key) || this.#annotations.size === ANNOTATIONS_MAX) return;
    this.#annotations.add(key);
    this.#options.reports.annotated(source, text);
  }
}

interface PollTarget {
  readonly session: PartitionSession;
  readonly partitionOf: (key: Buffer) => number;
  /** Counts the transactions, for the group that the log commits for. */
  readonly offset: number;
}

type Answered = RangeAnswer & { readonly kind: 'answered' };

type AnsweredSteps = AskedSteps & Answered;

interface PointsOfStep {
  readonly timestampMs: number;
  readonly answer: number;
  readonly series: DecodedPoints['series'][number][];
}

/** The points of answers in event time, step by step: no series of a partition runs ahead of the others. */
function byTime(answers: readonly AnsweredSteps[]): PointsOfStep[] {
  const steps = answers.map(() => new Map<number, PointsOfStep>());
  for (const [answer, { points }] of answers.entries()) {
    for (const { timestampsMs, values, ...name } of points.series) {
      for (const [i, timestampMs] of timestampsMs.entries()) {
        const step = steps[answer].get(timestampMs) ?? { timestampMs, answer, series: [] };
        step.series.push({ ...name, timestampsMs: [timestampMs], values: [values[i]] });
        steps[answer].set(timestampMs, step);
      }
    }
  }
  return steps.flatMap((each) => [...each.values()]).sort((a, b) => a.timestampMs - b.timestampMs);
}
