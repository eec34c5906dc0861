import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Whether a presented key is the one. */
export type CheckKey = (key: string) => boolean;

/** Who jobs belong to: there is one key. */
export const ONLY_OWNER = 'owner';

const KEY_BYTES = 32;

/** A key that nobody can guess. */
export function makeApiKey(): string {
  return `tw_${randomBytes(KEY_BYTES).toString('base64url')}`;
}

/** Compares digests, so that the time it takes says nothing about the key, its length included. */
export function keyCheck(key: string): CheckKey {
  const expected = digest(key);
  return (presented) => timingSafeEqual(digest(presented), expected);
}

/** The token of `Authorization: Bearer TOKEN`; null for anything else. */
export function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
