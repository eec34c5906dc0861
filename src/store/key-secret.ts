import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
/** Short enough to be typed. */
const ID_BYTES = 6;
const PREFIX_LENGTH_MAX = 8;
/** A prefix tells at most this part of a secret that somebody chose. */
const PREFIX_SHARE = 0.25;

export function makeKeyId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/** A secret that nobody can guess. */
export function makeKeySecret(): string {
  return `tw_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** What is stored of a secret. It holds 256 random bits: a fast digest gives nobody a way back. */
export function digestOf(secret: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** What people recognise a key by. */
export function prefixOf(secret: string): string {
  return secret.slice(0, Math.min(PREFIX_LENGTH_MAX, Math.floor(secret.length * PREFIX_SHARE)));
}
