import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsOf, personName, roleOfGroups } from '../../../../src/sidecar/accounts/group-role.ts';

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
