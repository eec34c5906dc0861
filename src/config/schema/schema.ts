import Type, { type TSchema, type TSchemaOptions } from 'typebox';
import { entryNameOf, type MappingPlace, type SettingsPlace } from './place.ts';
import { portablePattern } from './portable-pattern.ts';
import { nearestOf, notKnown } from './problems.ts';
import type { SettingsMapping, SettingsNode } from './settings-text.ts';

export interface Setting<T> {
  /** As problems name it: `must be EXPECTED`. */
  readonly expected: string;
  readonly schema: TSchema;
  /** undefined if it is invalid, which was reported. */
  readonly read: (node: SettingsNode, place: SettingsPlace) => T | undefined;
  /** Keys of a mapping, as they are written. */
  readonly keys?: readonly string[];
}

/** A key of a mapping. A secret has several: `KEY_env` and `KEY_file`. */
export interface Key<T> {
  /** Its name where that is not the one of the field in snake case. */
  readonly written?: string | undefined;
  /** Schemas by the keys as they are written. */
  readonly schemas: (written: string) => Readonly<Record<string, TSchema>>;
  readonly setting?: Setting<unknown>;
  readonly read: (written: string, place: MappingPlace) => T;
}

type SectionKeys = Readonly<Record<string, Key<unknown>>>;
/** Fields that are read of a mapping. */
export type SectionFields<K extends SectionKeys> = { readonly [P in keyof K]: K[P] extends Key<infer T> ? T : never };

/** A key that may be missing; undefined if it is, or is invalid. */
export function optional<T>(setting: Setting<T>, description: string, written?: string): Key<T | undefined> {
  return {
    written,
    setting,
    schemas: (name) => ({ [name]: Type.Optional({ ...setting.schema, description } as TSchema) }),
    read: (name, place) => {
      const { node, at } = place.value(name);
      return node === undefined ? undefined : setting.read(node, at);
    },
  };
}

/** A key that must be set; undefined if it is missing or invalid. */
export function required<T>(setting: Setting<T>, description: string, written?: string): Key<T | undefined> {
  const key = optional(setting, description, written);
  return {
    ...key,
    schemas: (name) => ({ [name]: { ...setting.schema, description } }),
    read: (name, place) => {
      if (!place.has(name)) place.value(name).at.mustBe(setting.expected, undefined);
      return key.read(name, place);
    },
  };
}

/** A key of earlier releases. @param replacement what does its work now */
export function removed(replacement: string): Key<undefined> {
  return {
    schemas: () => ({}),
    read: (name, place) => {
      if (place.has(name)) place.reportKey(name, `${place.pathOf(name)} was removed: ${replacement}`);
      return undefined;
    },
  };
}

/** A key with a default, as it would be written. It counts also where the key is invalid, so that reading continues. */
export function defaulted<T>(setting: Setting<T>, fallback: unknown, description: string, written?: string): Key<T> {
  const key = optional(setting, description, written);
  return {
    ...key,
    schemas: (name) => ({ [name]: Type.Optional({ ...setting.schema, description, default: fallback } as TSchema) }),
    read: (name, place) => key.read(name, place) ?? setting.read(nodeOf(fallback), place)!,
  };
}

function nodeOf(written: unknown): SettingsNode {
  if (Array.isArray(written)) return { kind: 'list', line: 0, items: written.map(nodeOf) };
  if (typeof written !== 'object') return { kind: 'scalar', line: 0, value: written };
  const entries = Object.entries(written ?? {}).map(
    ([key, value]) => [key, { keyLine: 0, value: nodeOf(value) }] as const,
  );
  return { kind: 'mapping', line: 0, entries: new Map(entries) };
}

/**
 * A mapping with these keys and no others.
 * @param build makes a value of what is read, and reports what is wrong between keys
 */
export function section<K extends SectionKeys, T>(
  keys: K,
  build: (fields: SectionFields<K>, place: MappingPlace) => T | undefined,
  options: TSchemaOptions = {},
): Setting<T> {
  const named = Object.entries(keys).map(([field, key]) => ({ field, key, written: key.written ?? snakeCase(field) }));
  const schemas = Object.assign({}, ...named.map(({ key, written }) => key.schemas(written)));
  const known = Object.keys(schemas);
  const below = named.flatMap(({ key, written }) => key.setting?.keys?.map((name) => `${written}.${name}`) ?? []);
  return mapping(Type.Object(schemas, { ...options, additionalProperties: false }), known, (place) => {
    const read = named.map(({ field, key, written }) => [field, key.read(written, place)]);
    for (const name of place.keys) {
      if (known.includes(name) || named.some(({ written }) => written === name)) continue;
      const nearest = nearestOf(name, known) ?? below.find((key) => key.endsWith(`.${name}`)) ?? null;
      place.reportKey(name, notKnown(place.pathOf(name), 'key', nearest));
    }
    return build(Object.fromEntries(read) as SectionFields<K>, place);
  });
}

function mapping<T>(
  schema: TSchema,
  keys: readonly string[],
  read: (place: MappingPlace) => T | undefined,
): Setting<T> {
  return {
    expected: 'a mapping',
    schema,
    keys,
    read(node, place) {
      if (node.kind === 'mapping') return read(place.mapping(node));
      place.mustBe('a mapping', node);
      return undefined;
    },
  };
}

interface NameRule {
  readonly pattern: RegExp;
  readonly expected: string;
  readonly max: number;
}

/** Values by names that the file chooses. */
export function byName<T>(setting: Setting<T>, rule: NameRule | null = null): Setting<ReadonlyMap<string, T>> {
  const limits =
    rule === null ? {} : { propertyNames: { pattern: portablePattern(rule.pattern.source) }, maxProperties: rule.max };
  return mapping(Type.Record(Type.String(), setting.schema, limits), [], (place) => {
    const values = new Map<string, T>();
    for (const name of place.keys) {
      const { node, at } = place.value(name);
      const value = setting.read(node!, at);
      if (rule?.pattern.test(name) === false) place.problem(name, rule.expected, name);
      else if (value !== undefined) values.set(name, value);
    }
    const { length } = place.keys;
    if (rule !== null && length > rule.max) place.problem(place.keys[rule.max], `one of at most ${rule.max}`, length);
    return values;
  });
}

/** One value or a list of values, as a list. */
export function oneOrMore<T>(setting: Setting<T>): Setting<readonly T[]> {
  const { schema, read } = setting;
  const expected = `${setting.expected}, or a list of such`;
  return {
    expected,
    schema: Type.Union([schema, Type.Array(schema, { minItems: 1 })]),
    read(node, place) {
      if (node.kind !== 'list') {
        const one = read(node, place);
        return one === undefined ? undefined : [one];
      }
      if (node.items.length === 0) place.mustBe(expected, node);
      return readItems(setting, node.items, place);
    },
  };
}

/** A list of mappings. @param named whether each has a `name` of its own */
export function listOf<T>(setting: Setting<T>, { named = false } = {}): Setting<readonly T[]> {
  const expected = 'a list of at least one mapping';
  return {
    expected,
    schema: Type.Array(setting.schema, { minItems: 1 }),
    read(node, place) {
      const items = node.kind === 'list' ? node.items : [];
      if (items.length === 0) place.mustBe(expected, node);
      if (named) reportRepeatedNames(items, place);
      return readItems(setting, items, place);
    },
  };
}

function readItems<T>({ read }: Setting<T>, items: readonly SettingsNode[], place: SettingsPlace): readonly T[] {
  return items.map((item, index) => read(item, place.item(index, item))).filter((value) => value !== undefined);
}

function reportRepeatedNames(items: readonly SettingsNode[], place: SettingsPlace): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const name = entryNameOf(item);
    if (name === undefined) continue;
    if (seen.has(name))
      place
        .item(index, item)
        .mapping(item as SettingsMapping)
        .problem('name', 'a name of its own', name);
    seen.add(name);
  }
}

/** `detectionSize` is written `detection_size`. */
function snakeCase(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
