import { integerFrom, text, textOf } from '../schema/kinds.ts';
import { type GivenOptions, secret, secretFile, setting } from './option.ts';
import { tokenUrl } from './option-kinds.ts';

type Role = 'viewer' | 'operator' | 'admin';

/** Groups of directories have commas and equals signs: pairs end at semicolons, and roles begin at the last sign. */
const groupRoles = textOf('GROUP=ROLE pairs separated by semicolons, such as sre=admin;*=viewer', (written) => {
  const pairs = written.split(';').map((pair) => /^\s*(\S.*?)\s*=\s*(viewer|operator|admin)\s*$/.exec(pair));
  const roles = new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], pair[2] as Role] as const])));
  return roles.size === pairs.length ? (roles as ReadonlyMap<string, Role>) : undefined;
});

/** Sign-in of people at an OpenID provider. */
export const identityOptions = {
  oidcIssuer: setting(
    'OIDC_ISSUER',
    tokenUrl,
    'OpenID provider where people sign in; /.well-known/openid-configuration there has its configuration',
  ),
  oidcClientId: setting('OIDC_CLIENT_ID', text, 'id of the client that is registered at the provider'),
  oidcClientSecret: secret('OIDC_CLIENT_SECRET', 'secret of that client'),
  oidcClientSecretFile: secretFile('OIDC_CLIENT_SECRET', 'oidcClientSecret'),
  oidcRoles: setting(
    'OIDC_ROLES',
    groupRoles,
    'roles of groups: GROUP=ROLE, separated by semicolons; the highest applies, and * is everyone who may sign in',
  ),
  oidcGroupsClaim: setting('OIDC_GROUPS_CLAIM', text, 'claim that lists the groups of a person', 'groups'),
  oidcScope: setting(
    'OIDC_SCOPE',
    text,
    'scopes to request (default: openid profile email, and the groups claim if the provider lists it as a scope)',
  ),
  oidcSessionHours: setting(
    'OIDC_SESSION_HOURS',
    integerFrom(1, 720),
    'hours after which a person must sign in again',
    12,
  ),
};

const NEEDED = ['oidcClientId', 'oidcClientSecret', 'oidcRoles'] as const;

/** null without an issuer. */
export function identityOf(given: GivenOptions<typeof identityOptions>) {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoles: roles } = given.values;
  const { oidcScope: scope = null, oidcGroupsClaim: groupsClaim, oidcSessionHours: hours } = given.values;
  for (const key of NEEDED) {
    if (given.isSet('oidcIssuer')) given.need(key, 'oidcIssuer');
    else if (given.isSet(key)) given.need('oidcIssuer', key);
  }
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || roles === undefined) return null;
  return { issuer, clientId, clientSecret, scope, groupsClaim, roles, sessionMs: hours * 3_600_000 };
}
