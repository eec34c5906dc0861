/** The command `suggest` on files, and what `backtest` says of its suggestion. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

const BEGIN = 1_767_225_600_000;

async function writtenFile(): Promise<string> {
  const rows = ['series,timestamp,value'];
  for (let i = 0; i < 600; i++) {
    const time = BEGIN + i * 300_000;
    for (const host of ['a', 'b']) {
      const spike = host === 'a' && i === 500 ? 60 : 0;
      rows.push(`${host}/load,${time},${(10 + Math.sin(i / 20) + Math.sin(i * 12.9898) / 4 + spike).toFixed(3)}`);
      rows.push(`${host}/requests_total,${time},${i * 7}`);
    }
    rows.push(`a/up,${time},1`);
  }
  const path = join(freshFolder(), 'metrics.csv');
  await writeFile(path, `${rows.join('\n')}\n`);
  return path;
}

test('backtest takes a suggestion as it is', async () => {
  const path = await writtenFile();
  const out = join(freshFolder(), 'detectors.yaml');
  const { exitCode, err } = await runCommand(['suggest', path, '--out', out]);
  assert.equal(exitCode, 0, err.join('\n'));
  const text = await readFile(out, 'utf8');
  assert.match(text, /series: "\*\/load"/);
  assert.match(text, /# - "up": 1 series \("a\/up"\) never changed/);
  const scored = await runCommand(['backtest', path, '--detectors', out, '--out', `${out}.csv`]);
  assert.equal(scored.exitCode, 0, scored.err.join('\n'));
  assert.ok(scored.err.some((line) => line.startsWith('1 events;')));
  await writeFile(out, '# edited\n');
  const refused = await runCommand(['suggest', path, '--out', out]);
  assert.equal(refused.exitCode, 2);
  assert.deepEqual(refused.err, [`${out} exists: name another file, or replace it with --replace`]);
  assert.equal(await readFile(out, 'utf8'), '# edited\n');
  assert.equal((await runCommand(['suggest', path, '--out', out, '--replace'])).exitCode, 0);
  assert.equal(await readFile(out, 'utf8'), text);
});

test('rows that repeat a time of their series are counted, and a path that cannot be written is refused first', async () => {
  const path = join(freshFolder(), 'twice.csv');
  const rows = Array.from({ length: 400 }, (_, i) => [BEGIN + i * 60_000, Math.sin(i * 12.9898).toFixed(3)].join());
  await writeFile(path, ['timestamp,value', ...rows, rows[5], `${BEGIN},77`].join('\n'));
  const { err } = await runCommand(['suggest', path]);
  assert.match(
    err.join('\n'),
    /^2 of 402 rows repeat a time of their series, 1 with another value \(first: "twice" at /m,
  );
  for (const args of [
    ['suggest', path, '--out'],
    ['backtest', path, '--report'],
    ['backtest', path, '--incidents'],
  ]) {
    const refused = await runCommand([...args, join(path, 'out')]);
    assert.equal(refused.exitCode, 2);
    assert.deepEqual(refused.out, []);
    assert.match(refused.err.join('\n'), /^Cannot write \S+: ENOTDIR/);
  }
});

test('a column that is not in the file is wrong use, and its flag is named', async () => {
  const path = await writtenFile();
  for (const args of [
    ['backtest', path, '--label-column', 'labell'],
    ['suggest', path, '--value-column', 'load'],
  ]) {
    const { exitCode, err } = await runCommand(args);
    assert.equal(exitCode, 2);
    assert.match(
      err.join('\n'),
      new RegExp(`there is no \\w+ column: "${args[3]}" \\(${args[2]}\\) is not among series`),
    );
  }
});

test('where there is nothing to watch no file is written, and the command reports why', async () => {
  const path = join(freshFolder(), 'flat.csv');
  await writeFile(
    path,
    `timestamp,value\n${Array.from({ length: 50 }, (_, i) => `${BEGIN + i * 60_000},1`).join('\n')}\n`,
  );
  const { exitCode, out, err } = await runCommand(['suggest', path]);
  assert.equal(exitCode, 1);
  assert.deepEqual(out, []);
  assert.match(err.join('\n'), /There is nothing to watch in 1 series:\n- "flat": 1 series \("flat"\) never changed/);
});

test('one place of data is given, and a Prometheus needs matchers', async () => {
  const none = await runCommand(['suggest']);
  assert.equal(none.exitCode, 2);
  assert.match(none.err.join('\n'), /give one of FILE and --prometheus; 0 are given/);
  const topic = await runCommand(['suggest', '--topic', 'observations']);
  assert.equal(topic.exitCode, 2);
  const unmatched = await runCommand(['suggest', '--prometheus', 'http://127.0.0.1:1', '--match', 'load']);
  assert.equal(unmatched.exitCode, 2);
  assert.match(unmatched.err.join('\n'), /--match must be matchers of the series in braces, such as \{job="node"\}/);
});

test('help prints the commands, and help with a command its flags', async () => {
  const [bare, flag, of] = await Promise.all(
    [['help'], ['--help'], ['help', 'suggest']].map((args) => runCommand(args)),
  );
  assert.deepEqual([bare.exitCode, bare.out], [0, flag.out]);
  assert.match(of.out[0] ?? '', /^npm start -- suggest \[FILE\]/);
});
