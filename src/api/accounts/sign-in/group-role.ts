import { KEY_ROLES, type KeyRole } from '../../../store/keys/key-role.ts';

/** Instead of a group: everybody whom the provider signs in. */
const ANYBODY = '*';
const NAME_CHARACTERS_MAX = 100;
/** Groups that a log names: directories have thousands. */
const GROUPS_NAMED_MAX = 20;
/** Characters that control a terminal, are invisible or reverse text; databases refuse the first of them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu;

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

/** The groups of a claim in words, as an operator compares them with the roles. */
export function groupsText(claims: Claims, claim: string): string {
  if (!(claim in claims)) return `no claim ${claim}`;
  const groups = groupsOf(claims, claim);
  if (groups.length === 0 && !isEmptyList(claims[claim])) return `the claim ${claim} is no list of texts`;
  const more = groups.length - GROUPS_NAMED_MAX;
  const named = groups.slice(0, GROUPS_NAMED_MAX).map(visible).join(', ');
  return `groups ${named || 'none'}${more > 0 ? ` and ${more} more` : ''}`;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Name of a person: the first of the usual claims that is visible. */
export function personName(claims: Claims): string {
  const names = ['preferred_username', 'email', 'name', 'sub'].map((claim) => claims[claim]);
  return names.map((name) => (typeof name === 'string' ? visible(name) : '')).find((name) => name !== '') ?? '?';
}

/** At most so many characters of a text, in one line. */
function visible(text: string): string {
  const seen = text
    .slice(0, 2 * NAME_CHARACTERS_MAX)
    .replace(UNSEEN, ' ')
    .trim();
  return [...seen].slice(0, NAME_CHARACTERS_MAX).join('');
}
