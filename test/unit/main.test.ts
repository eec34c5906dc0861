import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../fixture/command.ts';

const FOLDER = join(import.meta.dirname, '../../src/command');

/** Names of the commands that the files of the folder define. */
const defined = readdirSync(FOLDER).flatMap((file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return /: RunnableCommand = \{\n {2}name: '(\w+)'/.exec(text)?.[1] ?? [];
});

test('every command is loaded under its own name, and by itself', async () => {
  const { out } = await runCommand(['--help']);
  const listed = out.flatMap((line) => /^ {2}(\w+) {2}/.exec(line)?.[1] ?? []);
  assert.deepEqual(listed.toSorted(), defined.toSorted());
  const topics = await runCommand(['topics', '--help']);
  assert.match(topics.out[0], /^npm start -- topics \[--flags\]/);
});

test('a command that there is not is refused with the nearest one', async () => {
  const { exitCode, err } = await runCommand(['workr']);
  assert.equal(exitCode, 2);
  assert.match(err[0], /workr.*did you mean worker\?/);
});
