/** The thread that keeps the history: it follows the topics, stores what it reads, and answers reads. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openDuckdb } from '../../../history/duckdb-history.ts';
import { openHistory } from '../../../history/kept-history.ts';
import { LiveSeconds } from '../../../history/live-seconds.ts';
import type { HistoryBounds } from '../../../history/maintain.ts';
import type { HistoryReader, HistoryStore, SeriesScores } from '../../../history/port/history-port.ts';
import type { HistoryMessage, HistoryQuestion } from '../../../history/remote-history.ts';
import {
  clusterOfFile,
  HISTORY_FILE,
  type HistoryDatabase,
  setAsideFile,
} from '../../../history/sql/history-database.ts';
import { readClusterId } from '../../../kafka/admin/describe-cluster.ts';
import { makeFolder } from '../../../store/database/make-folder.ts';
import { pause } from '../topic-reading.ts';
import { type FollowedTopics, followTopics } from './follow-topics.ts';
import { StoredInput } from './stored-input.ts';

export interface HistoryThreadData extends FollowedTopics {
  readonly dataDir: string;
  readonly bounds: HistoryBounds;
  readonly memoryMb: number;
}

const SECOND_MS = 1_000;
const MAINTAIN_MS = 60_000;

assert(parentPort !== null, 'this file is the body of a worker thread');
const port = parentPort;
const data = workerData as HistoryThreadData;
const send = (message: HistoryMessage, transfer: readonly ArrayBuffer[] = []) => port.postMessage(message, transfer);
const stopping = new AbortController();
const live = new LiveSeconds();
let watched = false;
let history: HistoryStore | null = null;

port.on('message', (question: HistoryQuestion) => {
  if (question.kind === 'read') void answerRead(history, question);
  else if (question.kind === 'stop') stopping.abort();
  else {
    watched = question.watched;
    live.follow = new Set(question.follow);
  }
});

/** Retries while another process has the file. */
async function open(): Promise<HistoryStore | null> {
  for (;;) {
    try {
      const database = await openDatabase();
      return await openHistory(database, { bounds: data.bounds }).catch(async (error: unknown) => {
        await database.close();
        throw error;
      });
    } catch (error) {
      send({ kind: 'problem', problem: (error as Error).message });
    }
    await pause(stopping.signal);
    if (stopping.signal.aborted) return null;
  }
}

async function openDatabase(): Promise<HistoryDatabase> {
  makeFolder(data.dataDir);
  return openDuckdb(join(data.dataDir, HISTORY_FILE), { memoryMb: data.memoryMb });
}

/** The id of the cluster, once a broker answers; null after the thread was stopped. */
async function clusterOnceReached(): Promise<string | null> {
  while (!stopping.signal.aborted) {
    try {
      return await readClusterId({ config: data.kafka });
    } catch (error) {
      send({ kind: 'problem', problem: (error as Error).message });
      await pause(stopping.signal);
    }
  }
  return null;
}

/**
 * The history of the cluster. That of another one, as after a change of KAFKA_BROKERS, is set aside and comes back with
 * its cluster. Until a broker answers, the last history is shown.
 */
async function ofCluster(opened: HistoryStore, cluster: string): Promise<HistoryStore | null> {
  const before = await opened.claim(cluster);
  let own: HistoryStore | null = opened;
  if (before !== cluster) {
    history = null;
    await opened.close();
    const [file, aside] = [HISTORY_FILE, setAsideFile(before)].map((name) => join(data.dataDir, name));
    renameSync(file, aside);
    const earlier = join(data.dataDir, setAsideFile(cluster));
    if (existsSync(earlier)) renameSync(earlier, file);
    own = await open();
    await own?.claim(cluster);
  }
  const others = readdirSync(data.dataDir).flatMap((name) => clusterOfFile(name) ?? []);
  send({ kind: 'clusters', others });
  return own;
}

async function keep(kept: HistoryStore): Promise<void> {
  const problems: { topics: string | null; maintenance: string | null } = { topics: null, maintenance: null };
  const input = new StoredInput();
  let stoppedSinceMs: number | null = null;
  const seconds = setInterval(() => {
    const second = live.drain(Date.now());
    if (second.observations > 0) send({ kind: 'stored', scores: second.observations });
    if (watched) send({ kind: 'second', second });
    if (problems.topics !== null) input.readable(second.atMs);
    const stopped = input.problem(second.atMs);
    if (stoppedSinceMs === (stopped?.sinceMs ?? null)) return;
    stoppedSinceMs = stopped?.sinceMs ?? null;
    send({ kind: 'input', stopped });
  }, SECOND_MS);
  const report = (problem: Partial<typeof problems>) => {
    Object.assign(problems, problem);
    send({ kind: 'problem', problem: problems.topics ?? problems.maintenance });
  };
  const maintenance = setInterval(() => {
    kept.maintain().then(
      () => problems.maintenance !== null && report({ maintenance: null }),
      (error: Error) => report({ maintenance: error.message }),
    );
  }, MAINTAIN_MS);
  try {
    await followTopics(data, {
      history: kept,
      signal: stopping.signal,
      onStored: (batch) => {
        live.add(batch);
        input.stored(batch.scores, Date.now());
      },
      onProblem: (topics) => report({ topics }),
    });
  } finally {
    clearInterval(seconds);
    clearInterval(maintenance);
  }
}

/** Answers a read that came over a port. Columns are moved, not copied. */
async function answerRead(
  reader: HistoryReader | null,
  { id, read, args }: Extract<HistoryQuestion, { kind: 'read' }>,
): Promise<void> {
  if (reader === null) return send({ kind: 'failed', id, reason: 'it is not open yet' });
  try {
    const value = await (reader[read] as (...args: readonly unknown[]) => Promise<unknown>).call(reader, ...args);
    send({ kind: 'answer', id, value }, read === 'scores' ? buffersOf(value as SeriesScores | null) : []);
  } catch (error) {
    send({ kind: 'failed', id, reason: (error as Error).message });
  }
}

function buffersOf(scores: SeriesScores | null): ArrayBuffer[] {
  return scores === null ? [] : Object.values(scores.columns).map(({ buffer }) => buffer as ArrayBuffer);
}

history = await open();
const cluster = history === null ? null : await clusterOnceReached();
if (history !== null && cluster !== null) history = await ofCluster(history, cluster);
if (history !== null && cluster !== null) await keep(history);
await history?.close();
port.close();
