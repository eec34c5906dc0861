/**
 * `npm run upgrade`: the workers of a release are replaced one after the other under a live stream, beside a group of
 * that release that goes on. Both score every record once, from the same forecasts. `RELEASE=0.2.0` names the release,
 * whose commit is the one that dated it in the changelog.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { startKafka } from '../../../src/demo/local-kafka/kafka-broker.ts';
import { openBulkProducer } from '../../../src/kafka/produce/bulk-producer.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { isAtEnd, openConnection, readQuiet } from '../../fixture/kafka/group-progress.ts';
import { observationRecord } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PRESENT = join(ROOT, 'src/main.ts');
const { RELEASE = '0.2.0' } = process.env;
const TOPIC = 'observations';
const SERIES = 40;
const STEP_MS = 100;
/** Steps before the first worker is replaced, so that alarms are raised; between two, and after them. */
const [BEFORE, BETWEEN] = [250, 100];

const folder = freshFolder();
const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir: join(folder, 'kafka') });
const connection = openConnection(kafka);
after(() => kafka.kill());

/** The program of the release, from the history of the repository. */
function checkedOut(release: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 30 });
  const dated = git('log', '--reverse', '--format=%H', `-S## [${release}]`, '--', 'CHANGELOG.md').toString();
  const [commit] = dated.split('\n');
  assert.notEqual(commit, '', `the history of this clone has no release ${release}`);
  const own = join(folder, 'release');
  mkdirSync(own);
  execFileSync('tar', ['x', '-C', own], { input: git('archive', commit, 'src', 'package.json') });
  symlinkSync(join(ROOT, 'node_modules'), join(own, 'node_modules'));
  return join(own, 'src/main.ts');
}

/** Two groups read one input, and write to topics of their own. */
function envOf(group: string): Readonly<Record<string, string>> {
  const file = join(folder, `${group}.yaml`);
  writeFileSync(
    file,
    `topics: { observations: ${TOPIC}, scores: ${group}-scores, events: ${group}-events, changelog: ${group}-changelog, dead_letters: ${group}-letters }
detectors: [{ name: every, series: "*", freq: min, h: 8, detection_size: 8, context: 64 }]
`,
  );
  const env = { KAFKA_BROKERS: kafka.brokers.join(), KAFKA_GROUP_ID: group, KAFKA_SESSION_MS: '6000' };
  return { ...env, DETECTORS: file, OPS_PORT: '0', INFERENCE_THREADS: '1' };
}

function recordsOf(step: number) {
  return Array.from({ length: SERIES }, (_, which) => {
    const noise = ((step * 7_919 + which * 104_729) % 101) / 100;
    const fault = step % 97 === 90 && which % 5 === 0 ? 30 : 0;
    return observationRecord(`series-${which}`, step, Math.sin(step / (2 + (which % 7))) * 5 + noise + fault);
  });
}

/** By the place of a record. */
async function judged(group: string): Promise<ReadonlyMap<string, ScoreRecord>> {
  const scores = (await readQuiet(connection, `${group}-scores`)).map((text) => JSON.parse(text) as ScoreRecord);
  const judgedAt = new Map(scores.map((score) => [`${score.input.partition}/${score.input.offset}`, score]));
  assert.equal(judgedAt.size, scores.length, 'nothing is scored twice');
  return judgedAt;
}

/** What a release promises to the next one; which grades are alarms is each one's own. */
function promised({ series, position, state, restarted, window }: ScoreRecord): string {
  return JSON.stringify([series, position, state, restarted, window]);
}

/** The network of detection was replaced behind 0.2.0 by one that was distilled from it. */
const FORECAST_SHARE = 0.1;

/** The distance of two forecasts, as a share of the interval. */
function forecastShare({ forecast, lo, hi }: ScoreRecord, now: ScoreRecord): number {
  return Math.abs(now.forecast! - forecast!) / (hi! - lo!);
}

test(`workers of ${RELEASE} are replaced under a live stream, and no score is lost, twice or far from the other`, async () => {
  const earlier = checkedOut(RELEASE);
  const [upgraded, control] = [envOf('upgraded'), envOf('control')];
  for (const env of [upgraded, control]) {
    const topics = startCommand(['topics', '--partitions', '4', '--replication-factor', '1'], env, '', earlier);
    assert.equal(await topics.exitCode, 0);
  }
  const producer = await openBulkProducer(connection, TOPIC);
  let [step, feeds] = [0, true];
  const feeding = (async () => {
    for (; feeds; step++) {
      await producer.send(recordsOf(step));
      await sleep(STEP_MS);
    }
  })();
  const start = (env: typeof control, main: string) => startCommand(['worker'], env, '', main);
  const stays = start(control, earlier);
  const replaced = [start(upgraded, earlier), start(upgraded, earlier)];
  const workers = [];
  let nextStep = BEFORE;
  for (const worker of replaced) {
    await until('the stream goes on', () => step >= nextStep);
    worker.terminate();
    assert.equal(await worker.exitCode, 0);
    workers.push(start(upgraded, PRESENT));
    nextStep = step + BETWEEN;
  }
  await until('the stream goes on', () => step >= nextStep);
  feeds = false;
  await feeding;
  await producer.close();
  for (const groupId of ['upgraded', 'control']) {
    await until(`${groupId} has scored everything`, () => isAtEnd(connection, { groupId, topic: TOPIC }));
  }
  for (const worker of [stays, ...workers]) worker.terminate();
  const [before, now] = [await judged('control'), await judged('upgraded')];
  assert.equal(before.size, step * SERIES);
  for (const [place, score] of before) {
    assert.equal(now.has(place) && promised(now.get(place)!), promised(score));
  }
  assert.equal(now.size, before.size);
  const shares = [...before]
    .filter(([place, { model, state }]) => state === 'scored' && now.get(place)!.model !== model)
    .map(([place, score]) => forecastShare(score, now.get(place)!))
    .sort((a, b) => a - b);
  const [median, wide] = [0.5, 0.95].map((share) => shares[Math.floor(share * shares.length)]);
  console.log(`forecasts differ by ${median} of their intervals, 95 % of them by ${wide} at most`);
  assert.ok(median < FORECAST_SHARE && shares.length > SERIES * BETWEEN);
  assert.deepEqual(await readQuiet(connection, 'upgraded-letters'), []);
});
