/** Converts objects of decoded records that are 64-bit integers or well-known types. Others are as they are. */
export function plainValue(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const { toPlain, toBigInt } = raw as { readonly toPlain?: unknown; readonly toBigInt?: unknown };
  if (typeof toPlain === 'function') return plainValue(toPlain.call(raw));
  return typeof toBigInt === 'function' ? toBigInt.call(raw) : raw;
}
