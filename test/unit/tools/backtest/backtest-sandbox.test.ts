/** Files in the real sandbox, with a model small enough for a test. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  OBSERVATIONS_MAX,
  observationsAtMost,
  SCORING_FORECASTS_MAX,
} from '../../../../src/api/operations/scoring-price.ts';
import { HttpProblem } from '../../../../src/api/wire/problem.ts';
import { openCatalog } from '../../../../src/models/catalog.ts';
import { FinetunedWeights } from '../../../../src/store/models/finetuned-weights.ts';
import {
  BACKTEST_LIMITS,
  type BacktestLimits,
  BacktestSandbox,
} from '../../../../src/tools/backtest/backtest-sandbox.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { writeModelFolder } from '../../../fixture/models/model-folder.ts';
import { openMemoryStore } from '../../../fixture/store/memory-store.ts';

const [modelsDir, pretrainedDir] = [freshFolder(), freshFolder()];
await writeModelFolder(modelsDir, 'tsmodel-1-detection');
const catalog = await openCatalog({ modelsDir, pretrainedDir });
const database = await openMemoryStore();
const opened: BacktestSandbox[] = [];
after(async () => {
  for (const each of opened) await each.close();
  await database.close();
});

function open(given: Partial<BacktestLimits> = {}): BacktestSandbox {
  const limits = { places: 1, ...given };
  const backtests = new BacktestSandbox({ catalog, database, kept: new FinetunedWeights(database, null), limits });
  opened.push(backtests);
  return backtests;
}

const settings = { h: 4, detection_size: 4 };
const turnOf = (owner: string, signal = new AbortController().signal) => ({ owner, signal });

/** Values of a series, a minute apart. */
function csvOf(length: number, separator = ',', decimals = '.'): string {
  const rows = Array.from({ length }, (_, i) => {
    const time = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString();
    return ['web', time, (50 + ((i * 7919) % 13) / 10).toFixed(1).replace('.', decimals)].join(separator);
  });
  return `${['series', 'timestamp', 'value'].join(separator)}\n${rows.join('\n')}\n`;
}

const sandbox = open();
const SHORT = { name: 'short.csv', csv: csvOf(50), settings };
/** It would run for minutes. */
const ENDLESS = { name: 'long.csv', csv: csvOf(SCORING_FORECASTS_MAX), settings: { h: 1, detection_size: 1 } };

async function problemsOf(csv: string): Promise<readonly string[]> {
  const outcome = await sandbox.backtest({ name: 'a.csv', csv, settings }, turnOf('one'));
  return outcome.kind === 'problems' ? outcome.problems : [outcome.kind];
}

test('a file is scored, with the tokens of its observations, also by semicolon and decimal comma', async () => {
  const rows = `${csvOf(200, ';', ',')}web;never;1\n`;
  const outcome = await sandbox.backtest({ name: 'a.csv', csv: rows, settings }, turnOf('one'));
  assert.equal(outcome.kind, 'report');
  assert.equal(outcome.observations, 200);
  const { report, notes, input_tokens, output_tokens } = JSON.parse(outcome.json.toString());
  assert.deepEqual([report.series[0].series, report.series[0].scores.timestampMs.length], ['web', 200]);
  assert.deepEqual([input_tokens, output_tokens, observationsAtMost(rows)], [200, 1_000, 201]);
  assert.match(notes.join('; '), /separated by semicolons; .* decimal comma.*; 1 row was refused/);
});

test('problems are bounded, however long the file and its names are', async () => {
  for (const csv of [
    `${'x'.repeat(900_000)},${'y'.repeat(100_000)}\n1,2\n`,
    `${Array.from({ length: 200_000 }, (_, i) => `c${i}`).join(',')}\n`,
    `series,timestamp,value\n${`${'"'.repeat(20)}${'9'.repeat(1_000)},${'t'.repeat(1_000)},1\n`.repeat(5_000)}`,
  ]) {
    const problems = await problemsOf(csv);
    assert.ok(problems.length > 0 && JSON.stringify(problems).length < 10_000, JSON.stringify(problems).slice(0, 300));
  }
  const [nothing, count, reason] = await problemsOf('timestamp,value\nnever,1\n');
  assert.deepEqual([nothing, count], ['there is nothing to score', '1 row was refused:']);
  assert.match(reason, /line 2: the time is "never"/);
  assert.deepEqual(await problemsOf(csvOf(OBSERVATIONS_MAX + 1)), [
    `at most ${OBSERVATIONS_MAX} observations are scored here: npm start -- backtest takes more`,
  ]);
});

test('a file whose steps make too many forecasts is refused at once, with what helps', async () => {
  const csv = csvOf(SCORING_FORECASTS_MAX + 1);
  const outcome = await sandbox.backtest({ name: 'a.csv', csv, settings: { h: 1, detection_size: 1 } }, turnOf('one'));
  assert.ok(outcome.kind === 'problems');
  assert.match(outcome.problems.join(), /50001 observations by steps of 1 make 50001 forecasts, more than 50000: send/);
});

test('four files of one owner do not refuse that of another, which waits for one of them alone', async () => {
  const ended: string[] = [];
  const score = (owner: string) =>
    sandbox.backtest(SHORT, turnOf(owner)).then(({ kind }) => void ended.push(`${owner} ${kind}`));
  const own = Array.from({ length: BACKTEST_LIMITS.ofOwnerMax }, () => score('one'));
  const refused = sandbox.backtest(SHORT, turnOf('one'));
  await assert.rejects(refused, (error) => error instanceof HttpProblem && error.status === 429);
  await Promise.all([...own, score('two')]);
  assert.deepEqual(ended, ['one report', 'two report', 'one report', 'one report', 'one report']);
});

test('all owners together have a limit, and a place that is free is given on', async () => {
  const small = open({ ofAllMax: 1 });
  const running = small.backtest(SHORT, turnOf('one'));
  await assert.rejects(small.backtest(SHORT, turnOf('two')), { code: 'overloaded' });
  assert.equal((await running).kind, 'report');
  assert.equal((await small.backtest(SHORT, turnOf('two'))).kind, 'report');
});

test('a client that is gone frees its place, whether its file waits or is scored', async () => {
  const [running, waiting] = [new AbortController(), new AbortController()];
  const gone = new Error('the client disconnected');
  const scored = sandbox.backtest(ENDLESS, turnOf('one', running.signal));
  const waits = sandbox.backtest(SHORT, turnOf('one', waiting.signal));
  const next = sandbox.backtest(SHORT, turnOf('two'));
  waiting.abort(gone);
  await assert.rejects(waits, gone);
  running.abort(gone);
  await assert.rejects(scored, gone);
  assert.equal((await next).kind, 'report');
});

test('a file that takes too long is stopped, with what helps', async () => {
  const hasty = open({ scoringMsMax: 300 });
  const outcome = await hasty.backtest(ENDLESS, turnOf('one'));
  assert.ok(outcome.kind === 'problems');
  assert.match(outcome.problems.join(), /scoring takes longer than 0.3 s: send fewer observations, or a larger h/);
});

test('with two places a long file of one owner does not hold up that of another', async () => {
  const two = open({ places: 2 });
  const leave = new AbortController();
  const long = two.backtest(ENDLESS, turnOf('one', leave.signal));
  const second = two.backtest(SHORT, turnOf('one', leave.signal));
  assert.equal((await two.backtest(SHORT, turnOf('two'))).kind, 'report');
  const ended = Promise.all([long, second].map((each) => assert.rejects(each, /enough/)));
  leave.abort(new Error('enough'));
  await ended;
});

test('a file whose turn does not come in time is refused as one too many, and its place is free', async () => {
  const patient = open({ waitingMsMax: 50, ofAllMax: 2 });
  const leave = new AbortController();
  const long = patient.backtest(ENDLESS, turnOf('one', leave.signal));
  await assert.rejects(patient.backtest(SHORT, turnOf('two')), {
    code: 'overloaded',
    message: 'still waiting after 50 ms',
  });
  leave.abort(new Error('enough'));
  await assert.rejects(long, /enough/);
  assert.equal((await patient.backtest(SHORT, turnOf('two'))).kind, 'report');
});

test('the end of the service refuses what runs and what waits', async () => {
  const ending = open();
  const all = [ending.backtest(ENDLESS, turnOf('one')), ending.backtest(SHORT, turnOf('two'))];
  const refused = all.map((each) => assert.rejects(each, { code: 'overloaded' }));
  await ending.close();
  await Promise.all(refused);
});
