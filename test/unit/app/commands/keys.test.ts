import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysCommand } from '../../../../src/app/commands/keys.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

const folder = freshFolder();

async function keys(operands: readonly string[], flags: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const io = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    stop: new AbortController().signal,
  };
  const exitCode = await keysCommand.run(operands, { 'data-dir': folder, ...flags }, io);
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

async function create(flags: Readonly<Record<string, string>> = {}): Promise<string> {
  return /Key (\w+) was created/.exec((await keys(['create'], flags)).err)![1];
}

test('a wrong use gives one sentence and changes nothing', async () => {
  const id = await create();
  for (const [operands, flags, said] of [
    [['make'], {}, /ACTION must be create, list, revoke, credit or role, got "make"/],
    [['revoke'], {}, /revoke needs a KEY/],
    [['revoke', 'unheard-of'], {}, /There is no key "unheard-of"/],
    [['revoke', id], { name: 'new' }, /revoke takes no flags/],
    [['revoke', id], { credits: '1' }, /takes no --credits/],
    [['credit', id], {}, /credit needs --credits/],
    [['credit', id], { credits: 'ten' }, /--credits must be an integer/],
    [['create', id], {}, /create takes no KEY/],
    [['create'], { expires: 'tomorrow' }, /--expires must be a duration/],
    [['list'], { name: 'x' }, /list takes no flags/],
  ] as const) {
    const { exitCode, err } = await keys(operands, flags);
    assert.equal(exitCode, 2, operands.join(' '));
    assert.match(err, said);
  }
  assert.match((await keys(['list'])).out, new RegExp(`^${id} .* valid .* - +- +- +all$`, 'm'));
});

test('a prefix of several keys is ambiguous and changes none of them', async () => {
  await Promise.all([create(), create()]);
  const { exitCode, err } = await keys(['revoke', 'tw_'.slice(0, 0)]);
  assert.equal(exitCode, 2);
  assert.match(err, /^Which of these: \w+ \(unnamed\), /);
  assert.doesNotMatch((await keys(['list'])).out, /revoked/);
});

test('the limits and the credits of a key are listed', async () => {
  const limits = {
    'per-minute': '60',
    'at-once': '4',
    credits: '0',
    models: 'tsmodel-1, mine',
    owner: 'ann',
    expires: '1d',
  };
  const id = await create({ name: 'shop', ...limits });
  assert.match((await keys(['credit', id], { credits: '70' })).out, /has 70 tokens left/);
  const day = String.raw`\d{4}-\d\d-\d\d`;
  const row = `^${id} +tw_.{5}… +shop +ann +operator +valid +${day} +${day} +60 +4 +70 +tsmodel-1,mine$`;
  assert.match((await keys(['list'])).out, new RegExp(row, 'm'));
});
