import { boolean, type Kind, parseText, text } from '../schema/kinds.ts';
import { type ReadFile, readNamedFile } from '../schema/named-file.ts';
import { mustBe } from '../schema/problems.ts';

/** An option of the environment, the command line, or both. */
export interface Option<T> {
  /** Name of the variable; null if there is only a flag. */
  readonly env: string | null;
  /** Name of the flag without dashes; null for a secret, since every user of a machine can see command lines. */
  readonly flag: string | null;
  readonly kind: Kind<T>;
  readonly help: string;
  /** Listed by `--help`; the others by `--help all`. */
  readonly isFirst?: true;
  /** The option whose value, a secret, is in the file that this one names. */
  readonly holds?: string;
}

interface OptionWithDefault<T> extends Option<T> {
  readonly fallback: T;
}

/** An option as it is written: with a default, or without one. */
type WrittenOption<T, F> = [F] extends [undefined] ? Option<T> : OptionWithDefault<T>;

function optionOf<T, F>(option: Option<T>, fallback: F): WrittenOption<T, F> {
  return (fallback === undefined ? option : { ...option, fallback }) as WrittenOption<T, F>;
}

/** A setting with a variable and the flag of the same name: `KAFKA_GROUP_ID` and `--kafka-group-id`. */
export function setting<T, F extends NoInfer<T> | undefined = undefined>(
  env: string,
  kind: Kind<T>,
  help: string,
  fallback?: F,
) {
  return optionOf({ env, flag: env.toLowerCase().replaceAll('_', '-'), kind, help }, fallback as F);
}

/** The same option, which `--help` of a command with many options lists. */
export function listedFirst<O extends Option<unknown>>(option: O): O {
  return { ...option, isFirst: true };
}

export function secret<T = string>(env: string, help: string, kind: Kind<T> = text as Kind<T>): Option<T> {
  return { env, flag: null, kind, help };
}

/** The file that holds a secret, as orchestrators mount it. @param holds the option of that secret */
export function secretFile(env: string, holds: string): Option<string> {
  return { ...setting(`${env}_FILE`, text, `file that holds ${env}`), holds };
}

/** A flag that only some commands have, such as `--rate` of `feed`. */
export function commandFlag<T, F extends NoInfer<T> | undefined = undefined>(
  flag: string,
  kind: Kind<T>,
  help: string,
  fallback?: F,
) {
  return optionOf({ env: null, flag, kind, help }, fallback as F);
}

/** A flag of a command that is given, or not. */
export function switchFlag(flag: string, help: string): OptionWithDefault<boolean> {
  return commandFlag(flag, boolean, help, false);
}

export type Environment = Readonly<Record<string, string | undefined>>;
/** Flags by name, without dashes; a flag without a value is `true`. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface OptionSources {
  readonly flags: Flags;
  readonly env: Environment;
  readonly readFile: ReadFile;
}

export type OptionSchema = Readonly<Record<string, Option<unknown> & { readonly fallback?: unknown }>>;

/** Values by the names of options: the default, or undefined, where one is unset or invalid. */
export type OptionValues<O> = {
  readonly [K in keyof O]: O[K] extends OptionWithDefault<infer T>
    ? T
    : O[K] extends Option<infer T>
      ? T | undefined
      : never;
};

const NOT_SHOWN = 'a value that is not shown';

/**
 * What is set of a schema of options, and what is wrong with it. Flags win over the environment, whose empty variables
 * count as unset, as in compose files. A secret may be in the file that its `_FILE` names.
 */
export class GivenOptions<O extends OptionSchema> {
  readonly values: OptionValues<O>;
  readonly problems: string[] = [];
  readonly #schema: O;
  readonly #sources: OptionSources;
  /** The option that names a file, by the secret in it. */
  readonly #files: ReadonlyMap<string, string>;
  readonly #invalid = new Set<string>();

  constructor(schema: O, sources: OptionSources) {
    this.#schema = schema;
    this.#sources = sources;
    const keys = Object.keys(schema);
    this.#files = new Map(keys.flatMap((key) => (schema[key].holds === undefined ? [] : [[schema[key].holds, key]])));
    const values = Object.fromEntries(keys.map((key) => [key, this.#parse(key) ?? schema[key].fallback]));
    this.values = values as OptionValues<O>;
    for (const [secret, file] of this.#files) {
      if (values[file] !== undefined) values[secret] = this.#secret(secret, file);
    }
  }

  /** True if an option is set, valid or not; a secret also by its file. */
  isSet(key: keyof O & string): boolean {
    return this.#raw(key) !== undefined || this.#raw(this.#files.get(key)) !== undefined;
  }

  /** True if an option is unset, or valid. */
  isValid(key: keyof O & string): boolean {
    return !this.#invalid.has(key);
  }

  /** Name for problems: the flag where one was given or there is no variable, else the variable. */
  nameOf(key: keyof O & string): string {
    const file = this.#files.get(key);
    const { env, flag } = this.#schema[this.#raw(key) === undefined && this.#raw(file) !== undefined ? file! : key];
    return env === null || (flag !== null && this.#sources.flags[flag] !== undefined) ? `--${flag}` : env;
  }

  /** The text of the file that an option names; undefined if it names none, or a problem was reported. */
  text(key: keyof O & string): string | undefined {
    const path = this.values[key] as string | undefined;
    if (path === undefined) return undefined;
    return readNamedFile({ key: this.nameOf(key), path }, this.#sources.readFile, this.problems) ?? undefined;
  }

  /** The text of a PEM file. */
  pem(key: keyof O & string): string | undefined {
    const content = this.text(key);
    if (content !== undefined && !content.includes('-----BEGIN ')) {
      this.problems.push(mustBe(this.nameOf(key), 'the path of a PEM file', this.values[key]));
    }
    return content;
  }

  /** Reports an option that is missing, by its flag and its variable. */
  missing(key: keyof O & string, expected = this.#schema[key].kind.expected): void {
    const { env, flag } = this.#schema[key];
    const names = [flag === null ? [] : `--${flag}`, env ?? []].flat();
    this.problems.push(mustBe(names.join(' or '), expected, undefined));
  }

  /** Reports an option that is not set although another one is, in the form of that one: flag or variable. */
  need(key: keyof O & string, given: keyof O & string): void {
    if (this.isSet(key)) return;
    const [name, { env, flag }] = [this.nameOf(given), this.#schema[key]];
    const missing = flag !== null && (env === null || name.startsWith('--')) ? `--${flag}` : env!;
    this.problems.push(mustBe(missing, `set, because ${name} is`, undefined));
  }

  /** Reports where only one of two options is set. */
  bothOrNone(first: keyof O & string, second: keyof O & string): void {
    if (this.isSet(first)) this.need(second, first);
    else if (this.isSet(second)) this.need(first, second);
  }

  /** Reports options that are set and mean nothing. */
  refuse(keys: readonly (keyof O & string)[], why: string): void {
    for (const key of keys.filter((key) => this.isSet(key))) {
      this.problems.push(`${this.nameOf(key)} is set, but ${why}`);
    }
  }

  #parse(key: string): unknown {
    const raw = this.#raw(key);
    const { kind, flag } = this.#schema[key];
    const value = raw === undefined ? undefined : parseText(kind, raw);
    if (raw === undefined || value !== undefined) return value;
    this.#invalid.add(key);
    // An option without a flag is a secret. A URL may have one before its @.
    const shown = flag === null || raw.includes('@') ? NOT_SHOWN : JSON.stringify(raw);
    const meant = kind.hint?.(raw) ?? null;
    const hint = meant === null ? '' : `; ${meant}`;
    this.problems.push(`${this.nameOf(key)} must be ${kind.expected}, got ${shown}${hint}`);
    return undefined;
  }

  /** The text of its file without the line break that editors put at the end. */
  #secret(key: string, file: string): unknown {
    const name = this.nameOf(file);
    const { env, kind } = this.#schema[key];
    if (this.#raw(key) !== undefined) this.problems.push(`${env} and ${name} are both set; set one of them`);
    const content = this.text(file)?.replace(/\r?\n$/, '');
    if (content === undefined) return undefined;
    const secret = kind.parse(content);
    if (content === '') {
      this.problems.push(mustBe(name, 'the path of a file that is not empty', this.values[file]));
    } else if (secret === undefined) {
      this.problems.push(`${name} must name a file that holds ${kind.expected}, got ${NOT_SHOWN}`);
    }
    return secret;
  }

  #raw(key: string | undefined): string | undefined {
    if (key === undefined) return undefined;
    const { env, flag } = this.#schema[key];
    const given = flag === null ? undefined : this.#sources.flags[flag];
    if (given !== undefined) return String(given);
    const value = env === null ? undefined : this.#sources.env[env];
    return value === '' ? undefined : value;
  }
}
