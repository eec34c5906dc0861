import { parseText } from './kinds.ts';
import { type Option, type OptionWithDefault, options } from './options.ts';
import { mustBe, nearestOf, notKnown } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Flags by name, without dashes; a flag without a value is `true`. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** This prefix is ours alone: every variable that has it must be known. */
const OUR_PREFIX = 'TIDEWATCH_';
/** Kubernetes sets such variables in every container for a service of our name. */
const isServiceLink = (name: string, value: string | undefined) =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value ?? '');
/** A variable that differs from a known one by at most so many letters is a typing error. */
const SLIP_LETTERS_MAX = 2;

type Named = Pick<Option<unknown>, 'env' | 'flag'>;

/**
 * Reads options from flags, then from the environment, and collects their problems. An empty variable counts as unset,
 * as in compose files.
 */
export class OptionReader {
  readonly problems: string[] = [];
  readonly #flags: Flags;
  readonly #env: Environment;

  constructor(flags: Flags, env: Environment) {
    this.#flags = flags;
    this.#env = env;
  }

  /** The value of an option; undefined where it is unset, or invalid and reported. */
  read<T>(option: Option<T>): T | undefined {
    const raw = this.#raw(option);
    if (raw === undefined) return undefined;
    const value = parseText(option.kind, raw);
    if (value !== undefined) return value;
    // An option without a flag is a secret. A URL may have one before its @.
    const shown = option.flag === null || raw.includes('@') ? 'a value that is not shown' : JSON.stringify(raw);
    const meant = option.kind.hint?.(raw) ?? null;
    const hint = meant === null ? '' : `; ${meant}`;
    this.problems.push(`${this.nameOf(option)} must be ${option.kind.expected}, got ${shown}${hint}`);
    return undefined;
  }

  /** The value or the default; also the default where a problem was reported, so that reading continues. */
  readOr<T>(option: OptionWithDefault<T>): T {
    return this.read(option) ?? option.fallback;
  }

  isSet(option: Named): boolean {
    return this.#raw(option) !== undefined;
  }

  /** Name for problems: the flag where one was given or there is no variable, else the variable. */
  nameOf({ env, flag }: Named): string {
    return env === null || (flag !== null && this.#flags[flag] !== undefined) ? `--${flag}` : env;
  }

  /** Reports a problem of an option together with others. */
  problem(option: Named, expected: string): void {
    this.problems.push(mustBe(this.nameOf(option), expected, undefined));
  }

  /** Reports a problem where only one of two options is set. */
  bothOrNone(first: Named, second: Named): void {
    if (this.isSet(first) === this.isSet(second)) return;
    const [set, missing] = this.isSet(first) ? [first, second] : [second, first];
    this.problem(missing, `set, as ${this.nameOf(set)} is`);
  }

  /** Reports misspelt variables. Kafka's tools share our other prefixes, so only near misses of those are reported. */
  checkEnvironment(): void {
    const known = Object.values(options).flatMap(({ env }) => env ?? []);
    for (const [name, value] of Object.entries(this.#env)) {
      if (known.includes(name) || isServiceLink(name, value)) continue;
      if (name.startsWith(OUR_PREFIX)) {
        const meant = known.find((env) => env === name.slice(OUR_PREFIX.length));
        this.problems.push(notKnown(name, 'variable', meant ?? nearestOf(name, known)));
      } else if (/^(KAFKA|SCHEMA_REGISTRY)_/.test(name)) {
        const nearest = nearestOf(name, known, SLIP_LETTERS_MAX);
        if (nearest !== null) this.problems.push(notKnown(name, 'variable', nearest));
      }
    }
  }

  #raw({ env, flag }: Named): string | undefined {
    const given = flag === null ? undefined : this.#flags[flag];
    if (given !== undefined) return String(given);
    const value = env === null ? undefined : this.#env[env];
    return value === '' ? undefined : value;
  }
}
