/** Roles of keys, in rising order: each role may do what those before it may. */
export const KEY_ROLES = ['viewer', 'operator', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** True if a role may do what `needed` may. */
export function hasRole(role: KeyRole, needed: KeyRole): boolean {
  return KEY_ROLES.indexOf(role) >= KEY_ROLES.indexOf(needed);
}
