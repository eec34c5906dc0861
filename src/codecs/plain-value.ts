/** What an object of a decoded record stands for: a 64-bit integer, or a well-known type. Others are as they are. */
export function plainValue(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const { toPlain, toBigInt } = raw as { readonly toPlain?: unknown; readonly toBigInt?: unknown };
  if (typeof toPlain === 'function') return plainValue(toPlain.call(raw));
  return typeof toBigInt === 'function' ? toBigInt.call(raw) : raw;
}
