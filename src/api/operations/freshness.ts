import { setTimeout as sleep } from 'node:timers/promises';
import type { SeriesStanding } from '../../history/port/history-port.ts';
import type { ScoreState } from '../../records/score-record.ts';
import type { Freshness } from '../wire/schema/operations/freshness-schema.ts';
import type { Operations } from './operations.ts';

/** Readers within this time share one answer. */
const SHARED_MS = 2_000;
/** A cluster that is away answers late: until then the answer has what is known without it. */
const CLUSTER_MS_MAX = 2_000;
/** Records that wait longer, while none is committed, are not being scored. */
const COMMIT_MS_MAX = 10_000;
/** The marker of a transaction follows its last record, and is never committed as an offset. */
const MARKERS = 1;

const NO_SERIES: SeriesStanding = { states: new Map(), ended: 0, newestMs: null, storedAtMs: null, incidents: null };
const JUDGED: readonly ScoreState[] = ['scored', 'returned'];
const CALIBRATING: readonly ScoreState[] = ['warming-up', 'not-forecasted', 'calibrating'];

type KnownOfCluster = Pick<Freshness, 'workers' | 'unwatched'>;

const UNKNOWN: KnownOfCluster = { workers: null, unwatched: null };

/** Reports how current the scores are, to any number of readers. */
export function freshnessReader(operations: Operations, nowMs: () => number): () => Promise<Freshness> {
  const commits: Commits = new Map();
  let shared: { readonly atMs: number; readonly answer: Promise<Freshness> } | null = null;
  let asked: Promise<KnownOfCluster> | null = null;

  // One question at a time, however long the cluster takes.
  const cluster = () => {
    asked ??= askCluster(operations, commits, nowMs())
      .catch(() => UNKNOWN)
      .finally(() => {
        asked = null;
      });
    return Promise.race([asked, sleep(CLUSTER_MS_MAX, UNKNOWN, { ref: false })]);
  };
  const read = async (): Promise<Freshness> => {
    const [standing, known] = await Promise.all([operations.reader.standing().catch(() => NO_SERIES), cluster()]);
    const unread = operations.problem();
    // Records that wait are a backlog of the workers, not an input that has stopped.
    const problem = unread !== null && unread.due !== null && (known.workers?.lag ?? 0) > 0 ? null : unread;
    const count = (of: readonly ScoreState[]) => of.reduce((sum, state) => sum + (standing.states.get(state) ?? 0), 0);
    return {
      at: nowMs(),
      problem: problem && { reason: problem.reason, since: problem.sinceMs, due: problem.due },
      other_clusters: [...operations.otherClusters()],
      newest: standing.newestMs,
      stored_at: standing.storedAtMs,
      incidents: standing.incidents && {
        open: standing.incidents.open,
        stalled_since: standing.incidents.unnamedSinceMs,
      },
      series: {
        judged: count(JUDGED),
        calibrating: count(CALIBRATING),
        silent: count(['silent']),
        ended: standing.ended,
      },
      ...known,
    };
  };
  return () => {
    const atMs = nowMs();
    if (shared === null || atMs - shared.atMs >= SHARED_MS) shared = { atMs, answer: read() };
    return shared.answer;
  };
}

/** Partitions of which records wait: where they were committed to, and since when. */
type Commits = Map<number, { readonly nextOffset: number | null; readonly sinceMs: number }>;

async function askCluster({ cluster }: Operations, commits: Commits, nowMs: number): Promise<KnownOfCluster> {
  const [{ members, partitions }, diagnostics] = await Promise.all([cluster.workers(), cluster.diagnostics()]);
  let lag = 0;
  let stalledSinceMs = Number.POSITIVE_INFINITY;
  for (const { partition, nextOffset, endOffset } of partitions) {
    const waiting = Math.max(0, endOffset - (nextOffset ?? 0));
    if (waiting <= MARKERS) {
      commits.delete(partition);
      continue;
    }
    lag += waiting;
    const seen = commits.get(partition);
    if (seen === undefined || seen.nextOffset !== nextOffset) commits.set(partition, { nextOffset, sinceMs: nowMs });
    else if (nowMs - seen.sinceMs > COMMIT_MS_MAX) stalledSinceMs = Math.min(stalledSinceMs, seen.sinceMs);
  }
  const unwatched = diagnostics.find((diagnostic) => diagnostic.kind === 'unwatched');
  return {
    workers: { members, lag, stalled_since: Number.isFinite(stalledSinceMs) ? stalledSinceMs : null },
    unwatched: unwatched ? { records: unwatched.records, of: unwatched.of, examples: [...unwatched.examples] } : null,
  };
}
