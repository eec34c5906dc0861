import type { Kind } from './kinds.ts';
import { mustBe, nearestOf, notKnown, show } from './problems.ts';
import { parseSettingsText, type SettingsNode } from './settings-text.ts';

type Node = SettingsNode | undefined;

/** The file of a section, with its problems. */
interface Source {
  readonly file: string;
  readonly problems: string[];
}

/** Parses a YAML file whose top is a mapping; null where nothing in it can be trusted. */
export function parseYaml(file: string, content: string, problems: string[]): Section | null {
  const root = parseSettingsText(file, content, problems);
  if (root === null) return null;
  if (root.kind === 'mapping') return new Section({ file, problems }, '', root);
  problems.push(`${file} must be a mapping, got ${showNode(root)}`);
  return null;
}

/**
 * One mapping of a YAML file. Every read reports its problems with file and line; `close` reports the keys that were
 * not read.
 */
export class Section {
  readonly #source: Source;
  readonly #path: string;
  readonly #node: Node;
  readonly #entries: Extract<SettingsNode, { kind: 'mapping' }>['entries'];
  readonly #known: string[] = [];

  constructor(source: Source, path: string, node: Node) {
    this.#source = source;
    this.#path = path;
    this.#node = node;
    this.#entries = node?.kind === 'mapping' ? node.entries : new Map();
  }

  /** Every key that is written. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /**
   * The value of a key; undefined where it is absent or invalid. Invalid is a problem, absent only where it is
   * required.
   */
  read<T>(key: string, kind: Kind<T>, presence: 'optional' | 'required' = 'optional'): T | undefined {
    const node = this.#find(key);
    if (node === undefined && presence === 'optional') return undefined;
    return this.#check(key, node, kind);
  }

  /** One value or a list of values, as a list; an empty list is a problem. */
  readList<T>(key: string, kind: Kind<T>, presence: 'optional' | 'required' = 'optional'): readonly T[] | undefined {
    const node = this.#find(key);
    if (node?.kind !== 'list') {
      const one = this.read(key, kind, presence);
      return one === undefined ? undefined : [one];
    }
    if (node.items.length === 0) this.#report(key, node, `${kind.expected}, or a list of such`);
    const items = node.items.map((item, index) => this.#check(`${key}[${index}]`, item, kind));
    return items.filter((item) => item !== undefined);
  }

  /** The mapping under a key; an empty one when the key is absent. */
  section(key: string): Section {
    const node = this.#find(key);
    if (node !== undefined && node.kind !== 'mapping') this.#report(key, node, 'a mapping');
    return new Section(this.#source, `${this.#path}${key}.`, node);
  }

  /** The list of mappings under a key, which must not be empty. */
  sections(key: string): readonly Section[] {
    const node = this.#find(key);
    if (node?.kind !== 'list' || node.items.length === 0) {
      this.#report(key, node, 'a list of at least one mapping');
      return [];
    }
    return node.items.flatMap((item, index) => {
      if (item.kind === 'mapping') return [new Section(this.#source, `${this.#path}${key}[${index}].`, item)];
      this.#report(`${key}[${index}]`, item, 'a mapping');
      return [];
    });
  }

  /** Reports a problem of a key together with others. */
  problem(key: string, expected: string, got: unknown): void {
    const entry = this.#entries.get(key);
    this.#say(entry?.keyLine ?? this.#node?.line, mustBe(`${this.#path}${key}`, expected, got));
  }

  /** Call it when every key was read: the keys that are left are unknown. */
  close(): void {
    for (const [name, { keyLine }] of this.#entries) {
      if (this.#known.includes(name)) continue;
      this.#say(keyLine, notKnown(`${this.#path}${name}`, 'key', nearestOf(name, this.#known)));
    }
  }

  #find(key: string): Node {
    if (!this.#known.includes(key)) this.#known.push(key);
    return this.#entries.get(key)?.value;
  }

  #check<T>(key: string, node: Node, kind: Kind<T>): T | undefined {
    const value = node?.kind === 'scalar' ? kind.fromValue(node.value) : undefined;
    if (value === undefined) this.#report(key, node, kind.expected);
    return value;
  }

  #report(key: string, node: Node, expected: string): void {
    const line = node?.line ?? this.#entries.get(key)?.keyLine ?? this.#node?.line;
    this.#say(line, `${this.#path}${key} must be ${expected}, got ${showNode(node)}`);
  }

  #say(line: number | undefined, sentence: string): void {
    this.#source.problems.push(`${this.#source.file}${line === undefined ? '' : `:${line}`}: ${sentence}`);
  }
}

/** A value as a problem quotes it. Mappings and lists are only named. */
function showNode(node: Node): string {
  if (node?.kind === 'mapping') return 'a mapping';
  if (node?.kind === 'list') return node.items.length === 0 ? 'an empty list' : 'a list';
  return show(node?.value);
}
