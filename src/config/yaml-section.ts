import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
} from 'yaml';
import type { Kind } from './kinds.ts';
import { mustBe, nearestOf, notKnown, show } from './problems.ts';

type Node = ParsedNode | null | undefined;

/** The file of a section, with its problems and its line numbers. */
interface Source {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly problems: string[];
}

/**
 * Parses a YAML file whose top is a mapping. Syntax errors, repeated keys, unknown tags and unknown aliases become
 * problems; the result is null then, since nothing in the file can be trusted.
 */
export function parseYaml(file: string, content: string, problems: string[]): Section | null {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({ at: pos[0], message }));
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      faults.push({ at: alias.range?.[0] ?? 0, message: `alias *${alias.source} stands for nothing above it` });
    },
  });
  for (const { at, message } of faults) problems.push(`${file}:${lines.linePos(at).line}: ${message}`);
  if (faults.length > 0) return null;
  const source = { file, document, lines, problems };
  if (isMap(document.contents)) return new Section(source, '', document.contents);
  problems.push(`${file} must be a mapping, got ${showNode(document.contents)}`);
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
  readonly #entries = new Map<string, { readonly key: Node; readonly value: Node }>();
  readonly #known: string[] = [];

  constructor(source: Source, path: string, node: Node) {
    this.#source = source;
    this.#path = path;
    this.#node = node;
    if (!isMap(node)) return;
    for (const { key, value } of node.items) this.#entries.set(String(key), { key, value });
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
    if (!isSeq(node)) {
      const one = this.read(key, kind, presence);
      return one === undefined ? undefined : [one];
    }
    if (node.items.length === 0) this.#report(key, node, `${kind.expected}, or a list of such`);
    const items = node.items.map((item, index) => this.#check(`${key}[${index}]`, item as Node, kind));
    return items.filter((item) => item !== undefined);
  }

  /** The mapping under a key; an empty one when the key is absent. */
  section(key: string): Section {
    const node = this.#find(key);
    if (node !== undefined && !isMap(node)) this.#report(key, node, 'a mapping');
    return new Section(this.#source, `${this.#path}${key}.`, node);
  }

  /** The list of mappings under a key, which must not be empty. */
  sections(key: string): readonly Section[] {
    const node = this.#find(key);
    if (!isSeq(node) || node.items.length === 0) {
      this.#report(key, node, 'a list of at least one mapping');
      return [];
    }
    return node.items.flatMap((item, index) => {
      const resolved = this.#resolve(item as Node);
      if (isMap(resolved)) return [new Section(this.#source, `${this.#path}${key}[${index}].`, resolved)];
      this.#report(`${key}[${index}]`, resolved, 'a mapping');
      return [];
    });
  }

  /** Reports a problem of a key together with others. */
  problem(key: string, expected: string, got: unknown): void {
    const entry = this.#entries.get(key);
    this.#say(entry?.key ?? this.#node, mustBe(`${this.#path}${key}`, expected, got));
  }

  /** Call it when every key was read: the keys that are left are unknown. */
  close(): void {
    for (const [name, { key }] of this.#entries) {
      if (this.#known.includes(name)) continue;
      this.#say(key, notKnown(`${this.#path}${name}`, 'key', nearestOf(name, this.#known)));
    }
  }

  #find(key: string): Node {
    if (!this.#known.includes(key)) this.#known.push(key);
    return this.#resolve(this.#entries.get(key)?.value);
  }

  #resolve(node: Node): Node {
    return isAlias(node) ? (node.resolve(this.#source.document) as Node) : node;
  }

  #check<T>(key: string, node: Node, kind: Kind<T>): T | undefined {
    const resolved = this.#resolve(node);
    const value = isScalar(resolved) ? kind.fromValue(resolved.value) : undefined;
    if (value === undefined) this.#report(key, resolved, kind.expected);
    return value;
  }

  #report(key: string, node: Node, expected: string): void {
    const at = node ?? this.#entries.get(key)?.key ?? this.#node;
    this.#say(at, `${this.#path}${key} must be ${expected}, got ${showNode(node)}`);
  }

  #say(node: Node, sentence: string): void {
    const offset = node?.range?.[0];
    const line = offset === undefined ? '' : `:${this.#source.lines.linePos(offset).line}`;
    this.#source.problems.push(`${this.#source.file}${line}: ${sentence}`);
  }
}

/** A value as a problem quotes it. Mappings and lists are only named, since aliases can make them endless. */
function showNode(node: Node): string {
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return node.items.length === 0 ? 'an empty list' : 'a list';
  return show(isScalar(node) ? node.value : undefined);
}
