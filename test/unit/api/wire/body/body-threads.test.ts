import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BodyThreads } from '../../../../../src/api/wire/body/body-threads.ts';

const threads = new BodyThreads();
after(() => threads.close());

const NAME = 'modelParams';
const small = () => Buffer.from('{"freq":"h"}');
/** Together they take longer to be read than another thread takes to start, on any machine. */
const LARGE = [1, 2, 3, 4, 5, 6, 7, 8];
/** Takes a while to be read. */
const large = () => Buffer.from(`{"freq":"h","z":[${'{},'.repeat(2_000_000)}{}]}`);

test('large bodies of one owner do not hold up the body of another', async () => {
  const done: string[] = [];
  const noted = (name: string, owner: string, bytes: Buffer) =>
    threads.read(owner, bytes, NAME).then(({ kind }) => done.push(`${name} ${kind}`));
  await Promise.all([
    ...LARGE.map((number) => noted(`large ${number}`, 'ann', large())),
    noted('small', 'bob', small()),
  ]);
  assert.ok(done.indexOf('small body') < done.indexOf(`large ${LARGE.at(-1)} body`), done.join());
  const actual = done.filter((name) => name !== 'small body');
  const expected = LARGE.map((number) => `large ${number} body`);
  assert.deepEqual(actual, expected);
});

test('a body that cannot be read frees its thread', async () => {
  for (let i = 0; i < 4; i++) assert.equal((await threads.read('ann', Buffer.from('{'), NAME)).kind, 'not-json');
  assert.equal((await threads.read('ann', small(), NAME)).kind, 'body');
});
