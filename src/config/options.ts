import { boolean, integerFrom, type Kind, oneOf, text, textMatching, textOf } from './kinds.ts';
import { mustBe, nearestOf, notKnown } from './problems.ts';
import { workerLimits } from './worker-limits.ts';

/** One setting of the environment, with its flag. A secret has no flag: command lines are seen by every user of a machine. */
interface Option<T> {
  readonly env: string;
  readonly flag: string | null;
  readonly kind: Kind<T>;
  readonly help: string;
}

/** `host:port`, also `[::1]:9092`, separated by commas. */
const brokerList = textOf('brokers as host:port, separated by commas', (value) => {
  const brokers = value.split(',').map((broker) => broker.trim());
  const fits = brokers.every((broker) => {
    const port = /^(?:[^\s:/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(broker)?.[1];
    return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
  });
  return fits ? (brokers as readonly string[]) : undefined;
});

/** A user or password inside the URL would reach logs and error messages. */
const registryUrl = textOf('an http or https URL without user and password in it', (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return fits ? value : undefined;
});

const option = <T>(env: string, flag: string | null, kind: Kind<T>, help: string): Option<T> => ({
  env,
  flag,
  kind,
  help,
});

export const options = {
  detectors: option('DETECTORS', 'detectors', text, 'detectors file (YAML)'),
  brokers: option('KAFKA_BROKERS', 'brokers', brokerList, 'Kafka brokers, host:port separated by commas'),
  clientId: option('KAFKA_CLIENT_ID', 'client-id', text, 'client id shown to the brokers (tidewatch)'),
  groupId: option('KAFKA_GROUP_ID', 'group-id', text, 'consumer group (tidewatch)'),
  tls: option('KAFKA_TLS', 'tls', boolean, 'true to speak TLS to the brokers (false)'),
  tlsCa: option('KAFKA_TLS_CA', 'tls-ca', text, 'PEM file of the authority that signed the brokers'),
  tlsCert: option('KAFKA_TLS_CERT', 'tls-cert', text, 'PEM file of the client certificate'),
  tlsKey: option('KAFKA_TLS_KEY', 'tls-key', text, 'PEM file of the client key'),
  tlsRejectUnauthorized: option(
    'KAFKA_TLS_REJECT_UNAUTHORIZED',
    'tls-reject-unauthorized',
    boolean,
    'false to accept any broker certificate (true)',
  ),
  saslMechanism: option(
    'KAFKA_SASL_MECHANISM',
    'sasl-mechanism',
    oneOf('plain', 'scram-sha-256', 'scram-sha-512'),
    'plain, scram-sha-256 or scram-sha-512',
  ),
  saslUsername: option('KAFKA_SASL_USERNAME', 'sasl-username', text, 'user of the brokers'),
  saslPassword: option('KAFKA_SASL_PASSWORD', null, text, 'password of that user'),
  saslPasswordFile: option('KAFKA_SASL_PASSWORD_FILE', 'sasl-password-file', text, 'file that holds the password'),
  registryUrl: option('SCHEMA_REGISTRY_URL', 'schema-registry-url', registryUrl, 'schema registry'),
  registryUsername: option('SCHEMA_REGISTRY_USERNAME', 'schema-registry-username', text, 'user of the schema registry'),
  registryPassword: option('SCHEMA_REGISTRY_PASSWORD', null, text, 'password of that user'),
  opsHost: option('OPS_HOST', 'ops-host', text, 'address of health, readiness and metrics (127.0.0.1)'),
  opsPort: option('OPS_PORT', 'ops-port', integerFrom(0, 65_535), 'their port; 0 takes any free one (9464)'),
  dataDir: option('DATA_DIR', 'data-dir', text, 'folder of what must outlive the process (./data)'),
  modelsDir: option('MODELS_DIR', 'models-dir', text, 'folder of further models'),
  logLevel: option(
    'LOG_LEVEL',
    'log-level',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'trace, debug, info, warn, error, fatal or silent (info)',
  ),
};

/** Every flag with its environment variable and what it says in `--help`; `parseArgs` takes them all as strings. */
export const configFlags: readonly { readonly flag: string; readonly env: string; readonly help: string }[] = [
  ...Object.values(options),
  ...workerLimits.map(({ fallback, ...limit }) => ({
    ...limit,
    help: fallback === null ? limit.help : `${limit.help} (${fallback})`,
  })),
].flatMap(({ flag, env, help }) => (flag === null ? [] : [{ flag, env, help }]));

/** A variable that differs from one of ours by so few letters was meant to be it. */
const SLIP_LETTERS_MAX = 2;

export type Environment = Readonly<Record<string, string | undefined>>;
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Reads options from flags, then environment. An empty variable counts as unset, as compose files write it. */
export class OptionReader {
  readonly problems: string[];
  readonly #flags: Flags;
  readonly #env: Environment;

  constructor(flags: Flags, env: Environment, problems: string[]) {
    this.#flags = flags;
    this.#env = env;
    this.problems = problems;
  }

  /** The option's value; undefined where it is not set or does not fit, which is a problem. */
  read<T>(option: Pick<Option<T>, 'env' | 'flag' | 'kind'>): T | undefined {
    const raw = this.#raw(option);
    if (raw === undefined) return undefined;
    const value = option.kind.fromText(raw);
    if (value !== undefined) return value;
    const shown = option.flag === null || raw.includes('@') ? 'a value that is not shown' : JSON.stringify(raw);
    this.problems.push(`${this.nameOf(option)} must be ${option.kind.expected}, got ${shown}`);
    return undefined;
  }

  isSet(option: Pick<Option<unknown>, 'env' | 'flag'>): boolean {
    return this.#raw(option) !== undefined;
  }

  /** Where the value came from: the flag if there was one, else the variable. */
  nameOf(option: Pick<Option<unknown>, 'env' | 'flag'>): string {
    return option.flag !== null && this.#flags[option.flag] !== undefined ? `--${option.flag}` : option.env;
  }

  /** A problem with an option that only shows beside others. */
  problem(option: Pick<Option<unknown>, 'env' | 'flag'>, expected: string, got?: unknown): void {
    this.problems.push(mustBe(this.nameOf(option), expected, got));
  }

  /**
   * Variables with one of our prefixes that are not ours but nearly. Others are let be: the environment is shared, and Kafka's own
   * tools use the prefix, too.
   */
  closeEnvironment(): void {
    const known = [...Object.values(options), ...workerLimits].map(({ env }) => env);
    for (const name of Object.keys(this.#env)) {
      if (!/^(KAFKA|SCHEMA_REGISTRY)_/.test(name) || known.includes(name)) continue;
      const nearest = nearestOf(name, known, SLIP_LETTERS_MAX);
      if (nearest !== null) this.problems.push(notKnown(name, 'variable', nearest));
    }
  }

  #raw(option: Pick<Option<unknown>, 'env' | 'flag'>): string | undefined {
    const flag = option.flag === null ? undefined : this.#flags[option.flag];
    if (flag !== undefined) return String(flag);
    const value = this.#env[option.env];
    return value === '' ? undefined : value;
  }
}
