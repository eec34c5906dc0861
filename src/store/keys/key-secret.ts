import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
/** Short enough to be typed. */
const ID_BYTES = 6;
const PREFIX_LENGTH_MAX = 8;
/** A prefix reveals at most this share of a chosen secret. */
const PREFIX_SHARE = 0.25;

export function makeKeyId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/** Generates a secret of 256 random bits. */
export function makeKeySecret(): string {
  return `tw_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The stored digest of a secret. A fast digest suffices for 256 random bits. */
export function digestOf(secret: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** The characters by which operators recognise a key. */
export function prefixOf(secret: string): string {
  return secret.slice(0, Math.min(PREFIX_LENGTH_MAX, Math.floor(secret.length * PREFIX_SHARE)));
}
