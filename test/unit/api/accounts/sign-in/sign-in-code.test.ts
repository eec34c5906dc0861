import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGN_IN_MS_MAX, SignInCode } from '../../../../../src/api/accounts/sign-in/sign-in-code.ts';

test('a code signs in once, until it expires', () => {
  const codes = new SignInCode();
  assert.equal(codes.use('made-up', 0), null);
  const code = codes.make('a-key', 0);
  assert.equal(codes.use('made-up', 0), null);
  assert.equal(codes.use(code, SIGN_IN_MS_MAX - 1), 'a-key');
  assert.equal(codes.use(code, 0), null, 'it was used');
  const late = codes.make('a-key', 0);
  assert.equal(codes.use(late, SIGN_IN_MS_MAX), null, 'it has expired');
});

test('a further code replaces the one before', () => {
  const codes = new SignInCode();
  const [first, second] = [codes.make('a-key', 0), codes.make('a-key', 0)];
  assert.notEqual(first, second);
  assert.equal(codes.use(first, 0), null);
  assert.equal(codes.use(second, 0), 'a-key');
});
