import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, problemsOf } from '../../../fixture/configuration.ts';

const ENV = {
  OIDC_ISSUER: 'https://id.example.com/realms/main',
  OIDC_CLIENT_ID: 'tidewatch',
  OIDC_CLIENT_SECRET_FILE: 'secret',
  OIDC_ROLES: 'cn=platform,ou=it=admin; sre = operator ;*=viewer',
};
const files = { secret: 'the-secret\n' };

test('people sign in where the issuer specifies, in the roles of their groups', () => {
  const result = load({ env: ENV, files });
  assert.ok(result.kind === 'config', problemsOf(result).join('; '));
  assert.deepEqual(result.config.http.identity, {
    issuer: ENV.OIDC_ISSUER,
    clientId: 'tidewatch',
    clientSecret: 'the-secret',
    scope: null,
    groupsClaim: 'groups',
    roles: new Map([
      ['cn=platform,ou=it', 'admin'],
      ['sre', 'operator'],
      ['*', 'viewer'],
    ]),
    sessionMs: 12 * 3_600_000,
  });
  const without = load({});
  assert.ok(without.kind === 'config');
  assert.equal(without.config.http.identity, null);
});

test('options that an issuer needs are named, and options that need an issuer', () => {
  const alone = problemsOf(load({ env: { OIDC_ISSUER: ENV.OIDC_ISSUER } })).join('; ');
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES']) assert.match(alone, new RegExp(name));
  assert.match(problemsOf(load({ env: { OIDC_ROLES: '*=viewer' } })).join('; '), /OIDC_ISSUER must be/);
});

test('roles that are none, groups twice and an issuer without TLS are refused', () => {
  for (const OIDC_ROLES of ['sre=owner', 'sre', '=admin', 'sre=admin;sre=viewer', 'sre=admin,*=viewer;']) {
    assert.match(problemsOf(load({ env: { ...ENV, OIDC_ROLES }, files })).join('; '), /OIDC_ROLES must be/, OIDC_ROLES);
  }
  const env = { ...ENV, OIDC_ISSUER: 'http://id.example.com' };
  assert.match(problemsOf(load({ env, files })).join('; '), /OIDC_ISSUER must be an https URL/);
});
