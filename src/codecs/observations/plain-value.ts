/** As `plainValue`, for ids and labels: an enum of Protobuf is its name there. */
export function plainLabel(raw: unknown): unknown {
  const { toName } = (raw ?? {}) as { readonly toName?: unknown };
  return typeof toName === 'function' ? toName.call(raw) : plainValue(raw);
}

/** Converts objects of decoded records that are 64-bit integers or well-known types. Others are as they are. */
export function plainValue(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const { toPlain, toBigInt } = raw as { readonly toPlain?: unknown; readonly toBigInt?: unknown };
  if (typeof toPlain === 'function') return plainValue(toPlain.call(raw));
  return typeof toBigInt === 'function' ? toBigInt.call(raw) : raw;
}

interface MessageType {
  readonly decode?: unknown;
  readonly fieldsArray: readonly { readonly name: string }[];
}

/**
 * Names and values of an object of labels or values. Of a Protobuf message also those that it leaves out because they
 * are zero; a field that is absent is null.
 */
export function entriesOf(found: object): readonly (readonly [string, unknown])[] {
  if (found instanceof Map) return [...found].map(([key, value]) => [String(key), value]);
  const { $type: type } = found as { readonly $type?: MessageType | null };
  // JSON has no functions: a field of this name is a label there.
  if (typeof type?.decode !== 'function') return Object.entries(found);
  return type.fieldsArray.map(({ name }) => [name, (found as Record<string, unknown>)[name]]);
}
