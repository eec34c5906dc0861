/** The kind of a field of the records that a worker writes. */
export type FieldKind =
  | 'text'
  | 'text-or-null'
  | 'number'
  | 'number-or-null'
  | 'integer'
  | 'integer-or-null'
  | 'boolean'
  | 'object'
  | 'list'
  | 'map';

export function isOfKind(value: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'text-or-null':
      return value === null || typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'number-or-null':
      return value === null || typeof value === 'number';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'integer-or-null':
      return value === null || Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
    case 'map':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'list':
      return Array.isArray(value);
  }
}
