import { type Option, type OptionWithDefault, options } from './options.ts';
import { mustBe, nearestOf, notKnown } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Flags as the command line had them, without dashes; a flag without a value is `true`. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** The prefix of ours alone: every variable with it must be known. */
const OUR_PREFIX = 'TIDEWATCH_';
/** What Kubernetes sets in every container for a service that is named as we are. */
const isServiceLink = (name: string, value: string | undefined) =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value ?? '');
/** A variable that differs from one of ours by so few letters was meant to be it. */
const SLIP_LETTERS_MAX = 2;

type Named = Pick<Option<unknown>, 'env' | 'flag'>;

/** Reads options from flags, then environment; collects what is wrong with them. An empty variable counts as unset, as compose files write it. */
export class OptionReader {
  readonly problems: string[] = [];
  readonly #flags: Flags;
  readonly #env: Environment;

  constructor(flags: Flags, env: Environment) {
    this.#flags = flags;
    this.#env = env;
  }

  /** The option's value; undefined where it is not set or does not fit, which is a problem. */
  read<T>(option: Option<T>): T | undefined {
    const raw = this.#raw(option);
    if (raw === undefined) return undefined;
    const value = option.kind.fromText(raw);
    if (value !== undefined) return value;
    // What has no flag is a secret; before an @ there may be one.
    const shown = option.flag === null || raw.includes('@') ? 'a value that is not shown' : JSON.stringify(raw);
    this.problems.push(`${this.nameOf(option)} must be ${option.kind.expected}, got ${shown}`);
    return undefined;
  }

  /** The option's value or its default; the default also where there was a problem, so that reading can go on. */
  readOr<T>(option: OptionWithDefault<T>): T {
    return this.read(option) ?? option.fallback;
  }

  isSet(option: Named): boolean {
    return this.#raw(option) !== undefined;
  }

  /** Where the value came from: the flag if there was one or there is no variable, else the variable. */
  nameOf({ env, flag }: Named): string {
    return env === null || (flag !== null && this.#flags[flag] !== undefined) ? `--${flag}` : env;
  }

  /** A problem with an option that only shows beside others. */
  problem(option: Named, expected: string): void {
    this.problems.push(mustBe(this.nameOf(option), expected, undefined));
  }

  /** A problem where one of two is set that belong together. */
  bothOrNone(first: Named, second: Named): void {
    if (this.isSet(first) === this.isSet(second)) return;
    const [set, missing] = this.isSet(first) ? [first, second] : [second, first];
    this.problem(missing, `set, as ${this.nameOf(set)} is`);
  }

  /** Variables that were meant to be ours. Kafka's own tools share our other prefixes: there only a near miss is a problem. */
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
