import { KEY_ROLES, type KeyRole } from '../../store/key-role.ts';

/** In place of a group: whoever the provider lets in. */
const ANYBODY = '*';
/** Characters of a name that are kept. */
const NAME_CHARACTERS_MAX = 100;

type Claims = Readonly<Record<string, unknown>>;

/** The groups of a claim: a list of texts, or one text. Anything else is none. */
export function groupsOf(claims: Claims, claim: string): readonly string[] {
  return [claims[claim]].flat().filter((group) => typeof group === 'string');
}

/** The highest role that any of the groups has; null without one. */
export function roleOfGroups(groups: readonly string[], roles: ReadonlyMap<string, KeyRole>): KeyRole | null {
  const held = new Set([ANYBODY, ...groups].map((group) => roles.get(group)));
  return KEY_ROLES.findLast((role) => held.has(role)) ?? null;
}

/** What a person is called: the first of the usual claims that is there. */
export function personName(claims: Claims): string {
  const names = ['preferred_username', 'email', 'name', 'sub'].map((claim) => claims[claim]);
  const name = names.find((given) => typeof given === 'string' && /\S/.test(given)) as string;
  return name.trim().slice(0, NAME_CHARACTERS_MAX);
}
