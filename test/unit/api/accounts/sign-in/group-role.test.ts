import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsOf, groupsText, personName, roleOfGroups } from '../../../../../src/api/accounts/sign-in/group-role.ts';

test('the highest role of the groups counts, and * is of everybody', () => {
  const roles = new Map([
    ['sre', 'operator'],
    ['cn=platform,ou=it', 'admin'],
  ] as const);
  assert.equal(roleOfGroups(['sre', 'cn=platform,ou=it', 'staff'], roles), 'admin');
  assert.equal(roleOfGroups(['sre'], roles), 'operator');
  assert.equal(roleOfGroups([], roles), null);
  assert.equal(roleOfGroups([], new Map([['*', 'viewer']])), 'viewer');
  assert.equal(roleOfGroups(['sre'], new Map([['*', 'viewer'], ...roles])), 'operator');
});

test('groups are a list of texts, or one text; anything else is none', () => {
  assert.deepEqual(groupsOf({ groups: ['a', 1, null, 'b'] }, 'groups'), ['a', 'b']);
  assert.deepEqual(groupsOf({ 'https://example.com/roles': 'a' }, 'https://example.com/roles'), ['a']);
  assert.deepEqual(groupsOf({ groups: { a: true } }, 'groups'), []);
  assert.deepEqual(groupsOf({}, 'groups'), []);
});

test('a person has the name of the first usual claim', () => {
  assert.equal(personName({ sub: '1', name: 'Ada', email: 'ada@example.com' }), 'ada@example.com');
  assert.equal(personName({ sub: '1', preferred_username: ' ' }), '1');
  assert.equal(personName({ sub: '1', name: 'a'.repeat(500) }).length, 100);
});

test('a name of a provider held NUL, which no Postgres takes, and escapes for the terminal of `keys list`', () => {
  assert.equal(personName({ sub: '1', preferred_username: 'a\0b\n\u001b[31mred\u202e' }), 'a b [31mred');
  assert.equal(personName({ sub: '1', preferred_username: '\u200b\0' }), '1');
  assert.equal(personName({ sub: '1', name: `${'a'.repeat(99)}😀😀` }), `${'a'.repeat(99)}😀`);
  assert.equal(personName({ sub: '' }), '?');
});

test('a refusal named thousands of groups in the log', () => {
  const groups = Array.from({ length: 5_000 }, (_, i) => `group-${i}`);
  assert.match(groupsText({ groups }, 'groups'), /^groups group-0, .*, group-19 and 4980 more$/);
  assert.equal(groupsText({ groups: ['a\nb', 'x'.repeat(500)] }, 'groups'), `groups a b, ${'x'.repeat(100)}`);
  assert.equal(groupsText({ groups: [] }, 'groups'), 'groups none');
  assert.equal(groupsText({ groups: { a: true } }, 'groups'), 'the claim groups is no list of texts');
  assert.equal(groupsText({}, 'groups'), 'no claim groups');
});
