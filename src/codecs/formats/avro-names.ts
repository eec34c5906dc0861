/** A parsed schema of any shape: it comes from a registry. */
export type Parsed = string | readonly Parsed[] | ParsedObject;

interface ParsedObject {
  readonly type: Parsed;
  readonly name?: string;
  readonly namespace?: string;
  readonly fields?: readonly { readonly name: string; readonly type: Parsed }[];
  readonly symbols?: readonly string[];
  readonly items?: Parsed;
  readonly values?: Parsed;
  readonly size?: number | undefined;
  readonly logicalType?: string;
  readonly scale?: number | undefined;
  readonly originals?: readonly string[];
}

/** A record of Debezium, as Connect names it. */
export const VARIABLE_DECIMAL = 'io.debezium.data.VariableScaleDecimal';

/** The logical type of a record or enum that the library reads under other names. */
export const RENAMED = 'renamed';

const NAMED = ['record', 'error', 'enum', 'fixed'];
const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'];

/**
 * Reduces schemas to what reading with the writer's schema needs. Defaults, orders and aliases matter to a reader with
 * a schema of its own only, and names are data: change capture writes types such as `shop-eu.public.orders.Value`.
 * The library would refuse all of these.
 */
export class AvroNames {
  /** Names of types for the library, by their full names. */
  readonly #types = new Map<string, string>();

  reduce(schema: Parsed, namespace = ''): Parsed {
    if (typeof schema === 'string') return this.#reference(schema, namespace);
    if (Array.isArray(schema)) return schema.map((branch) => this.reduce(branch, namespace));
    const { type, name, fields, symbols, items, values, size, logicalType, scale = 0 } = schema as ParsedObject;
    if (typeof type !== 'string') return this.reduce(type, namespace);
    if (type === 'array') return { type, items: this.reduce(items as Parsed, namespace) };
    if (type === 'map') return { type, values: this.reduce(values as Parsed, namespace) };
    // As the specification asks: an invalid decimal, or one of another type, is read as the type itself.
    const isDecimal = logicalType === 'decimal' && /^(bytes|fixed)$/.test(type);
    const decimal = isDecimal && Number.isInteger(scale) && scale >= 0 ? { logicalType, scale } : {};
    if (!NAMED.includes(type)) {
      const reduced = this.#reference(type, namespace);
      return type === 'bytes' ? { type: reduced, ...decimal } : reduced;
    }
    if (typeof name !== 'string') throw new Error(`a type ${type} has no name`);
    const fullName = fullNameOf(name, (schema as ParsedObject).namespace ?? namespace);
    if (this.#types.has(fullName)) throw new Error(`type ${fullName} is defined twice`);
    const named = `T${this.#types.size}`;
    this.#types.set(fullName, named);
    if (type === 'fixed') return { type, name: named, size, ...decimal };
    if (type === 'enum') {
      const { names, ...renamed } = accepted(symbols ?? []);
      return { type, name: named, symbols: names, ...renamed };
    }
    const within = fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
    const { names, ...renamed } = accepted((fields ?? []).map((field) => field.name));
    const reduced = (fields ?? []).map((field, i) => ({ name: names[i], type: this.reduce(field.type, within) }));
    const isVariable = fullName === VARIABLE_DECIMAL && String(reduced.map(({ type }) => type)) === 'int,bytes';
    const variable = isVariable && String(names) === 'scale,value' ? { logicalType: VARIABLE_DECIMAL } : {};
    return { type: 'record', name: named, fields: reduced, ...renamed, ...variable };
  }

  #reference(name: string, namespace: string): string {
    const known = this.#types.get(fullNameOf(name, namespace)) ?? this.#types.get(name);
    if (known !== undefined) return known;
    if (PRIMITIVES.includes(name)) return name;
    throw new Error(`type ${name} is not defined`);
  }
}

function fullNameOf(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name.replace(/^\./, '') : `${namespace}.${name}`;
}

/** Names as they are, unless the library refuses one of them or an object inherits it. */
function accepted(names: readonly string[]) {
  if (names.every((name) => /^[A-Za-z_]\w*$/.test(name) && !(name in Object.prototype))) return { names };
  return { names: names.map((_, i) => `n${i}`), logicalType: RENAMED, originals: names };
}
