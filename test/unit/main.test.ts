import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../fixture/command.ts';

const FOLDER = join(import.meta.dirname, '../../src/app/commands');

/** The commands that the files below the folder define, and those that the table loads. */
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const defined = files.flatMap((file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return /export const (\w+Command)\b/.exec(text)?.[1] ?? [];
});
const table = readFileSync(join(FOLDER, '../../main.ts'), 'utf8');
const loaded = Array.from(table.matchAll(/await import\('\S+'\)\)\.(\w+)/g), ([, name]) => name);

test('every command is listed and loaded under its own name, and alone', async () => {
  assert.deepEqual(loaded.toSorted(), defined.toSorted());
  const { out } = await runCommand(['--help']);
  const listed = out.flatMap((line) => /^ {2}([\w-]+) {2}/.exec(line)?.[1] ?? []);
  const nameOf = (command: string) => command.replace('Command', '').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
  assert.deepEqual(listed, loaded.map(nameOf));
  const topics = await runCommand(['topics', '--help']);
  assert.match(topics.out[0], /^npm start -- topics \[--flags\]/);
});

test('a command that there is not is refused with the nearest one', async () => {
  const { exitCode, err } = await runCommand(['workr']);
  assert.equal(exitCode, 2);
  assert.match(err[0], /workr.*did you mean worker\?/);
});
