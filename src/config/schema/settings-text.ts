import { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';

/** Characters of a settings text: a longer one would hold the process that parses it for seconds. */
export const SETTINGS_CHARACTERS_MAX = 1_000_000;
/** Tokens of YAML in a settings text: words, separators, line breaks. */
export const SETTINGS_TOKENS_MAX = 200_000;
export const SETTINGS_ALIASES_MAX = 1_000;
/** Mappings, lists and scalars of a settings text, with every alias written out. */
export const SETTINGS_VALUES_MAX = 100_000;
/** Problems of one settings text that are reported; the rest is counted. */
export const SETTINGS_PROBLEMS_MAX = 100;
/** Lines with the same problem that are reported; the rest is counted. */
const SAME_PROBLEM_MAX = 10;

/** The key of YAML 1.1 under which the keys of another mapping are merged. */
const MERGE = '<<';

/** A value of a settings text. An alias is the value that it refers to, with the line of that value. */
export type SettingsNode = SettingsMapping | SettingsList | SettingsScalar;

export interface SettingsMapping {
  readonly kind: 'mapping';
  readonly line: number;
  readonly entries: ReadonlyMap<string, { readonly keyLine: number; readonly value: SettingsNode }>;
}

interface SettingsList {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly SettingsNode[];
}

interface SettingsScalar {
  readonly kind: 'scalar';
  readonly line: number;
  readonly value: unknown;
}

/**
 * Parses a settings text (YAML) in bounded time. Syntax errors, repeated keys, unknown tags and aliases, and a limit
 * that is exceeded become problems with `name` and line; the result is null then, since nothing in it can be trusted.
 */
export function parseSettingsText(name: string, text: string, problems: string[]): SettingsNode | null {
  if (text.length > SETTINGS_CHARACTERS_MAX) {
    problems.push(`${name} must have at most ${SETTINGS_CHARACTERS_MAX} characters, got ${text.length}`);
    return null;
  }
  const tokens = tokensOf(text);
  if (tokens > SETTINGS_TOKENS_MAX) {
    problems.push(`${name} must have at most ${SETTINGS_TOKENS_MAX} words and separators, got ${tokens}`);
    return null;
  }
  try {
    return parseDocumentText(name, text, problems);
  } catch (error) {
    // The parser calls itself for each level: how many fit depends on the stack of the process.
    if (!(error instanceof RangeError)) throw error;
    problems.push(`${name} is nested too deeply`);
    return null;
  }
}

function parseDocumentText(name: string, text: string, problems: string[]): SettingsNode | null {
  const lines = new LineCounter();
  // Its own check of repeated keys compares each with every other.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  // The parser reports its own overflow of the stack as an error of the text.
  if (document.errors.some(({ message }) => message.includes('call stack'))) throw new RangeError('too deep');
  const reading = new Reading(lines);
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    reading.fault(pos[0], code === 'BAD_ALIAS' ? quoteStar('*') : message);
  }
  const root = reading.node(document.contents);
  reading.countAll();
  problems.push(...settingsProblems(name, reading.faults));
  return reading.faults.length > 0 ? null : root;
}

/** Tokens are cheap to count, and each costs the parser alike. */
function tokensOf(text: string): number {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) tokens++;
  return tokens;
}

export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

/** Sentences with name and line, in the order of the lines. */
export function settingsProblems(name: string, found: readonly LineProblem[]): readonly string[] {
  const sorted = [...found].sort((one, other) => one.line - other.line);
  const linesOf = new Map<string, Set<number>>();
  const distinct = sorted.filter(({ line, message }) => {
    const lines = linesOf.get(message) ?? new Set();
    linesOf.set(message, lines);
    return lines.size < SAME_PROBLEM_MAX && !lines.has(line) && lines.add(line);
  });
  const shown = distinct.slice(0, SETTINGS_PROBLEMS_MAX).map(({ line, message }) => `${name}:${line}: ${message}`);
  const further = found.length - shown.length;
  return further > 0 ? [...shown, `${name} has ${further} further problems`] : shown;
}

function quoteStar(glob: string): string {
  return `text that begins with * must be in quotes, such as ${JSON.stringify(glob)}: without them * begins an alias`;
}

/** One pass over a document: each value is visited once, and counted once for every alias of it. */
class Reading {
  readonly faults: LineProblem[] = [];
  readonly #lines: LineCounter;
  /** By anchor; null while the value is read that has the anchor. */
  readonly #anchored = new Map<string, { readonly node: SettingsNode; readonly values: number } | null>();
  #aliases = 0;
  #values = 0;
  /** The place from which there are too many. */
  readonly #excess: { aliases: number | null; values: number | null } = { aliases: null, values: null };

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  fault(offset: number, message: string): void {
    this.faults.push({ line: this.#lines.linePos(offset).line, message });
  }

  node(node: Node | null): SettingsNode {
    const offset = node?.range?.[0] ?? 0;
    if (isAlias(node)) return this.#aliased(node.source, offset);
    const { line } = this.#lines.linePos(offset);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchored.set(anchor, null);
    const before = this.#values;
    this.#count(1, offset);
    const read = this.#read(node, line);
    if (anchor !== undefined) this.#anchored.set(anchor, { node: read, values: this.#values - before });
    return read;
  }

  #read(node: Node | null, line: number): SettingsNode {
    if (isSeq<Node>(node)) return { kind: 'list', line, items: node.items.map((item) => this.node(item)) };
    if (!isMap<Node, Node | null>(node)) return { kind: 'scalar', line, value: (node as Scalar | null)?.value };
    const entries = new Map<string, { keyLine: number; value: SettingsNode }>();
    const merged: SettingsMapping[] = [];
    for (const { key, value } of node.items) {
      const offset = key?.range?.[0] ?? 0;
      if (!isScalar(key)) this.fault(offset, 'a key must be text');
      if (isScalar(key) && key.value === MERGE && key.type === 'PLAIN') {
        merged.push(...this.#merged(this.node(value), offset));
        continue;
      }
      // A mapping as a key would be written out with all its aliases.
      const name = isScalar(key) ? String(key.value) : `key ${entries.size + 1}`;
      if (entries.has(name)) this.fault(offset, `${name} is set twice: the keys of a mapping must be unique`);
      entries.set(name, { keyLine: this.#lines.linePos(offset).line, value: this.node(value) });
    }
    // Keys of its own win over those of a mapping that is merged, and an earlier one over a later one.
    for (const other of merged)
      for (const [name, entry] of other.entries) if (!entries.has(name)) entries.set(name, entry);
    return { kind: 'mapping', line, entries };
  }

  #merged(node: SettingsNode, offset: number): readonly SettingsMapping[] {
    const nodes = node.kind === 'list' ? node.items : [node];
    const mappings = nodes.filter((each) => each.kind === 'mapping');
    if (mappings.length < nodes.length)
      this.fault(offset, `${MERGE} must be an alias of a mapping, or a list of such: ${MERGE}: *base`);
    // More than is allowed is refused, and not merged before.
    return this.#values > SETTINGS_VALUES_MAX ? [] : mappings;
  }

  #aliased(anchor: string, offset: number): SettingsNode {
    const nothing: SettingsNode = { kind: 'scalar', line: 0, value: null };
    if (anchor === '') return nothing;
    if (++this.#aliases === SETTINGS_ALIASES_MAX + 1) this.#excess.aliases = offset;
    const target = this.#anchored.get(anchor);
    if (target === undefined) {
      this.fault(offset, `alias *${anchor} refers to nothing above it; ${quoteStar(`*${anchor}`)}`);
    } else if (target === null) this.fault(offset, `alias *${anchor} refers to a value that contains it`);
    this.#count(target?.values ?? 1, offset);
    return target?.node ?? nothing;
  }

  #count(values: number, offset: number): void {
    const before = this.#values;
    this.#values += values;
    if (before <= SETTINGS_VALUES_MAX && this.#values > SETTINGS_VALUES_MAX) this.#excess.values = offset;
  }

  /** Faults of what is too much, once all of it is counted. */
  countAll(): void {
    const { aliases, values } = this.#excess;
    const atMost = 'a settings text must have at most';
    if (aliases !== null) this.fault(aliases, `${atMost} ${SETTINGS_ALIASES_MAX} aliases, got ${this.#aliases}`);
    if (values !== null) {
      this.fault(values, `${atMost} ${SETTINGS_VALUES_MAX} values, with its aliases written out, got ${this.#values}`);
    }
  }
}
