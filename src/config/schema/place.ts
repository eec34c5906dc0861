import { mustBe, show } from './problems.ts';
import type { LineProblem, SettingsMapping, SettingsNode } from './settings-text.ts';

/** Source of what a file of settings must not contain. */
export interface SecretSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws where the file cannot be read. */
  readonly readFile: (path: string) => string;
}

/** A text of settings while it is read. */
interface SettingsReading {
  readonly secrets: SecretSource;
  readonly found: LineProblem[];
}

export class SettingsPlace {
  protected readonly reading: SettingsReading;
  readonly path: string;
  readonly line: number;

  constructor(reading: SettingsReading, path: string, line: number) {
    this.reading = reading;
    this.path = path;
    this.line = line;
  }

  mustBe(expected: string, node: SettingsNode | undefined, hint: string | null = null): void {
    const message = mustBeSentence(this.path, expected, node);
    this.add(hint === null ? message : `${message}; ${hint}`, node?.line);
  }

  report(message: string): void {
    this.add(message);
  }

  item(index: number, { line }: SettingsNode): SettingsPlace {
    return new SettingsPlace(this.reading, `${this.path}[${index}]`, line);
  }

  mapping(node: SettingsMapping): MappingPlace {
    return new MappingPlace(this.reading, this.path, node);
  }

  protected add(message: string, line: number = this.line): void {
    this.reading.found.push({ line, message });
  }
}

/** Place of a mapping, its keys, and problems between them. */
export class MappingPlace extends SettingsPlace {
  readonly #entries: SettingsMapping['entries'];

  constructor(reading: SettingsReading, path: string, { line, entries }: SettingsMapping) {
    super(reading, path, line);
    this.#entries = entries;
  }

  get secrets(): SecretSource {
    return this.reading.secrets;
  }

  get keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Names of the entries of a list, also of entries with problems. */
  namesOf(key: string): readonly string[] {
    const list = this.#entries.get(key)?.value;
    const items = list?.kind === 'list' ? list.items : [];
    return items.flatMap((item) => entryNameOf(item) ?? []);
  }

  pathOf(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  /** The value of a key, and its place; that of the mapping where it is missing. */
  value(key: string): { readonly node: SettingsNode | undefined; readonly at: SettingsPlace } {
    const entry = this.#entries.get(key);
    return { node: entry?.value, at: new SettingsPlace(this.reading, this.pathOf(key), entry?.keyLine ?? this.line) };
  }

  /** Reports a problem of a key together with others. */
  problem(key: string, expected: string, got: unknown, hint: string | null = null): void {
    const message = mustBe(this.pathOf(key), expected, got);
    this.reportKey(key, hint === null ? message : `${message}; ${hint}`);
  }

  reportKey(key: string, message: string): void {
    this.add(message, this.#entries.get(key)?.keyLine);
  }
}

/** Mappings and lists are only named. */
export function mustBeSentence(path: string, expected: string, node: SettingsNode | undefined): string {
  return `${path} must be ${expected}, got ${shown(node)}`;
}

function shown(node: SettingsNode | undefined): string {
  if (node?.kind === 'mapping') return 'a mapping';
  if (node?.kind === 'list') return node.items.length === 0 ? 'an empty list' : 'a list';
  return show(node?.value);
}

export function entryNameOf(node: SettingsNode): string | undefined {
  const name = node.kind === 'mapping' ? node.entries.get('name')?.value : undefined;
  return name?.kind === 'scalar' && name.value != null ? String(name.value) : undefined;
}
