/**
 * How long commands take to start, the best of a few rounds: `--help`, `serve` until it answers, `worker` until the
 * first score is in its topic. Modules are compiled already, as they are behind the first start of all.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTopicEnds } from '../../src/kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../src/kafka/cluster/connection.ts';
import { produceRecords } from '../../src/kafka/produce/bulk-producer.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import { until } from '../fixture/until.ts';
import type { Bench } from './bench.ts';
import { makeTopics, withBroker } from './local-broker.ts';
import { observationRecord } from './synthetic-series.ts';
import { printTable, rounded } from './table.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ROUNDS = 5;
const SERIES = 8;
const WAIT = { waitMsMax: 120_000, everyMs: 10 };
/** Of /proc/PID/stat, behind the name: processor time of user and system, in ticks of 10 ms. */
const [USER_AT, SYSTEM_AT, TICKS_PER_S] = [11, 12, 100];

interface Start {
  readonly seconds: number;
  /** NaN where the process has ended. */
  readonly cpuSeconds: number;
}

export const run: Bench = async () => {
  const folder = freshFolder();
  const help = await best(() => started(['--help'], folder, {}, (child) => once(child, 'exit')));
  const serve = await best(() => {
    return started(['serve'], folder, { DATA_DIR: join(folder, crypto.randomUUID()) }, (child) =>
      said(child, 'serving'),
    );
  });
  const worker = await withBroker((connection) => best((round) => firstScore(connection, folder, round)));
  const rows = Object.entries({ '--help': help, serve, 'worker, first score': worker });
  printTable(
    `Starts, the best of ${ROUNDS}`,
    ['command', 's', 'processor s'],
    rows.map(([name, { seconds, cpuSeconds }]) => [name, seconds, cpuSeconds]),
  );
  return {
    help_s: rounded(help.seconds),
    serve_ready_s: rounded(serve.seconds),
    serve_ready_cpu_s: rounded(serve.cpuSeconds),
    first_score_s: rounded(worker.seconds),
    first_score_cpu_s: rounded(worker.cpuSeconds),
  };
};

/** The first round is left out: it may compile. */
async function best(start: (round: number) => Promise<Start>): Promise<Start> {
  const starts: Start[] = [];
  for (let round = 0; round <= ROUNDS; round++) starts.push(await start(round));
  const least = (of: (start: Start) => number) => Math.min(...starts.slice(1).map(of));
  return { seconds: least(({ seconds }) => seconds), cpuSeconds: least(({ cpuSeconds }) => cpuSeconds) };
}

/** The time until `isReady` settles; the process is ended then. */
async function started(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
  isReady: (child: ChildProcess) => Promise<unknown>,
): Promise<Start> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, HTTP_PORT: '0', OPS_PORT: '0', DRAIN_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  if (args[0] === '--help') child.stdout.resume();
  await isReady(child);
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuSeconds = await cpuSecondsOf(child);
  child.kill('SIGINT');
  await ended;
  return { seconds, cpuSeconds };
}

/** Until a line of its log has this message. */
async function said(child: ChildProcess, message: string): Promise<void> {
  let out = '';
  child.stdout!.on('data', (bytes: Buffer) => {
    out += bytes.toString();
  });
  await until(message, () => out.includes(`"msg":"${message}"`) || child.exitCode !== null, WAIT);
  if (child.exitCode !== null) throw new Error(`it ended before it was ${message}: ${out}`);
}

async function cpuSecondsOf({ pid, exitCode }: ChildProcess): Promise<number> {
  if (exitCode !== null) return Number.NaN;
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[USER_AT]) + Number(fields[SYSTEM_AT])) / TICKS_PER_S;
}

async function firstScore(connection: KafkaConnection, folder: string, round: number): Promise<Start> {
  const topics = await makeTopics(connection, `start-${round}`);
  const { observations, scores, events, changelog, deadLetters } = topics;
  const file = join(folder, `${round}.yaml`);
  await writeFile(
    file,
    `topics: {observations: ${observations}, scores: ${scores}, events: ${events}, changelog: ${changelog}, dead_letters: ${deadLetters}}\n` +
      'detectors: [{name: all, series: "*", freq: s, h: 24, detection_size: 24}]\n',
  );
  await produceRecords(
    connection,
    observations,
    Array.from({ length: SERIES }, (_, series) => observationRecord(series, 0)),
  );
  const env = { KAFKA_BROKERS: connection.config.brokers.join(), KAFKA_GROUP_ID: `start-${round}`, DETECTORS: file };
  return started(['worker'], folder, env, (child) => {
    child.stdout!.resume();
    return until(
      'a score',
      async () => {
        const ends = await readTopicEnds(connection, [scores]);
        return child.exitCode !== null || ends.get(scores)!.some(({ endOffset }) => endOffset > 0);
      },
      WAIT,
    );
  });
}
