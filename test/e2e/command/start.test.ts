import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { STEP_MS, stepAt } from '../../../src/demo/demo-plan.ts';
import { DEMO_SERIES } from '../../../src/demo/demo-series.ts';
import { sentTime } from '../../../src/demo/faults.ts';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { startKafka } from '../../../src/demo/local-kafka/kafka-broker.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { readTail } from '../../../src/kafka/fetch/topic-tail.ts';
import { isSilence, type ScoreRecord } from '../../../src/records/score-record.ts';
import { formatTime } from '../../../src/tools/terminal/score-line.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { listening } from '../../fixture/http/listening.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';

const program = join(import.meta.dirname, '../../../src/main.ts');
const PARTITIONS = 4;

const dataDir = freshFolder();
let running: ChildProcess | null = null;

after(() => running?.kill('SIGKILL'));

/** Runs a command until a line matches, ends it as Ctrl-C does, and gives what it has said. */
async function runUntil(
  wanted: RegExp,
  args: readonly string[],
  atMatch: (out: string) => Promise<unknown> = async () => {},
) {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH, HOME, XDG_CACHE_HOME, DATA_DIR: dataDir, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  let out = '';
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = once(child, 'close');
  const matched = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (wanted.test(out)) resolve();
    });
  });
  const early = closed.then(() => assert.fail(`it ended before it printed ${wanted}: ${err}`));
  early.catch(() => undefined);
  await Promise.race([matched, early]);
  try {
    await atMatch(out);
  } finally {
    // A terminal and npm both send it.
    child.kill('SIGINT');
    setImmediate(() => child.kill('SIGINT'));
  }
  const [code] = await closed;
  return { code, out, err };
}

/** Asks the sidecar as `start` says it can be asked; gives the status. */
async function knocks(out: string): Promise<number> {
  const [, key, url] = /^Try: curl -H "Authorization: Bearer (\S+)" (\S+)$/m.exec(out)!;
  return (await fetch(url!, { headers: { authorization: `Bearer ${key}` } })).status;
}

/** Sends points that cannot be read; gives the status: 404 where none are received, 503 while Kafka starts. */
async function sendUnreadablePoints(out: string): Promise<number> {
  const [, key, url] = /^Try: curl -H "Authorization: Bearer (\S+)" (\S+)\/validate_api_key$/m.exec(out)!;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-protobuf' };
  return (await fetch(`${url}/api/v1/write`, { method: 'POST', headers, body: 'no points' })).status;
}

/** Signs in twice as the page does with the link that `start` prints; gives the statuses. */
async function signInTwice(out: string): Promise<number[]> {
  const [, url, code] = /^Sign in, once and within 15 minutes: (\S+)\/console#\/sign-in\/(\S+)$/m.exec(out)!;
  const post = () =>
    fetch(`${url}/console/session`, { method: 'POST', headers: { authorization: `Bearer ${code}`, origin: url! } });
  return [(await post()).status, (await post()).status];
}

/** What a stopped demo has left behind. */
async function scoresOnDisk(): Promise<{ readonly scores: readonly ScoreRecord[]; readonly deadLetters: number }> {
  const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir: join(dataDir, 'kafka') });
  try {
    const connection = { config: { brokers: kafka.brokers, clientId: 'tidewatch-test', tls: null, sasl: null } };
    const read = (topic: string, partition: number) =>
      readTail(connection, { topic, partition, recordsMax: 1_000_000 });
    const scores = await Promise.all(Array.from({ length: PARTITIONS }, (_, p) => read(TOPICS.scores, p)));
    const deadLetters = await read(TOPICS.deadLetters, 0);
    return { scores: scores.flat().map(({ value }) => JSON.parse(value!.toString())), deadLetters: deadLetters.length };
  } finally {
    await kafka.stop();
  }
}

/**
 * Fails unless every series was scored once at each step that the demo sends it; gives the time of the newest, and
 * how many records had a wrong one.
 */
function scoredWithoutGap(scores: readonly ScoreRecord[]): { readonly newest: number; readonly refused: number } {
  let refused = 0;
  const bySeries = Map.groupBy(
    scores.filter((score) => !isSilence(score)),
    ({ series }) => series,
  );
  assert.deepEqual(new Set(bySeries.keys()), new Set(DEMO_SERIES.map(({ id }) => id)));
  for (const [series, found] of bySeries) {
    const times = found.map(({ timestampMs }) => timestampMs).sort((a, b) => a - b);
    const sent: number[] = [];
    for (let ms = times[0]; ms <= times.at(-1)!; ms += STEP_MS) {
      const time = sentTime(series, stepAt(ms));
      if (time === ms) sent.push(ms);
      else if (time !== null) refused++;
    }
    assert.deepEqual(times, sent, series);
  }
  return { newest: Math.max(...scores.map(({ timestampMs }) => timestampMs)), refused };
}

const javaProcesses = async () => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(dataDir));
};

kafkaTest('start shows scored and flagged records, ends at Ctrl-C, and continues where it was', async () => {
  const first = await runUntil(/lately:[\s\S]*\n {2}\d[^\n]* scored\n/, [], async (out) => {
    assert.equal(await knocks(out), 200);
    assert.equal(await sendUnreadablePoints(out), 400);
  });
  assert.deepEqual([first.code, first.err], [0, '']);
  assert.match(first.out, /History of 40 series scored: 33,575 observations, \d+ flagged/);
  assert.match(first.out, /^! .* ALARM/m);
  assert.match(first.out, /http:\/\/127\.0\.0\.1:\d+\/readyz[\s\S]*KAFKA_BROKERS=127\.0\.0\.1:\d+ npm start -- watch/);
  assert.deepEqual(await javaProcesses(), []);
  const before = await scoresOnDisk();
  const { newest } = scoredWithoutGap(before.scores);

  assert.match(first.out, /the first key, shown once/);
  const brokerOf = (out: string) => /KAFKA_BROKERS=(\S+)/.exec(out)![1];
  const second = await runUntil(/Continuing at[\s\S]*\n[! ] \d[\s\S]*\n[! ] \d/, ['start']);
  assert.deepEqual([second.code, second.err], [0, '']);
  assert.doesNotMatch(second.out, /History|shown once/);
  assert.equal(brokerOf(second.out), brokerOf(first.out), 'the local Kafka keeps its port');
  const after = await scoresOnDisk();
  const continued = scoredWithoutGap(after.scores);
  assert.ok(continued.newest > newest);
  // One at the very end may still wait for the record that refutes it.
  assert.ok([0, 1].includes(continued.refused - after.deadLetters), `${after.deadLetters} dead letters`);
  // What was fed and not scored before the first end is scored by the second run.
  const continuesAt = /Continuing at (.+)\./.exec(second.out)![1];
  assert.ok(after.scores.some(({ timestampMs }) => formatTime(timestampMs) === continuesAt));
  assert.deepEqual(await javaProcesses(), []);
});

kafkaTest('a second broker on the same data is refused, and the first one continues', async () => {
  const folder = join(dataDir, 'shared');
  const options = { cacheDir: cacheFolder(), dataDir: folder };
  const first = await startKafka(options);
  try {
    await assert.rejects(startKafka(options), { code: 'configuration', message: /KAFKA_BROKERS.*DATA_DIR/ });
    const config = { brokers: first.brokers, clientId: 'tidewatch-test', tls: null, sasl: null };
    const creation = { partitions: 1, replicationFactor: 1, retentionMs: null };
    assert.equal((await ensureTopics({ config }, TOPICS, creation)).length, Object.keys(TOPICS).length);
  } finally {
    await first.stop();
  }
});

kafkaTest('the command broker runs until Ctrl-C', async () => {
  const port = await freePort();
  const config = { brokers: [`127.0.0.1:${port}`], clientId: 'tidewatch-test', tls: null, sasl: null };
  const creation = { partitions: 1, replicationFactor: 1, retentionMs: null };
  const { code, err } = await runUntil(/Kafka is up/, ['broker', '--port', String(port)], () =>
    ensureTopics({ config }, TOPICS, creation),
  );
  assert.deepEqual([code, err], [0, '']);
  assert.deepEqual(await javaProcesses(), []);
});

/** A start on a machine without Java, in a data folder of its own. */
function startWithoutJava(httpPort: string) {
  const env = { PATH: '', OPS_PORT: '0', HTTP_PORT: httpPort, INFERENCE_THREADS: '1' };
  return startCommand(['start'], env);
}

test('start without Java reports it in one sentence and serves HTTP alone, until Ctrl-C', async () => {
  const command = startWithoutJava('0');
  const said = () => command.out.filter((line) => line.startsWith('Only HTTP is served'));
  await command.until(() => said().length > 0);
  assert.match(said()[0], /no working java is on the path.*KAFKA_BROKERS/);
  assert.equal(await knocks(command.out.join('\n')), 200);
  assert.deepEqual(await signInTwice(command.out.join('\n')), [200, 401]);
  command.interrupt();
  assert.deepEqual([await command.exitCode, said().length, command.err], [0, 1, []]);
});

test('start on a used HTTP port names the setting that changes it, and creates nothing', async () => {
  const command = startWithoutJava(String(await listening(createServer())));
  assert.equal(await command.exitCode, 2);
  assert.equal(command.err.length, 1);
  assert.match(command.err[0], /HTTP_PORT/);
  assert.deepEqual(command.out, []);
});
