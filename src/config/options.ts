import { isIP } from 'node:net';
import type { LogLevel, WorkerLimits } from './config.ts';
import { boolean, commaList, integerFrom, type Kind, oneOf, text, textMatching, textOf } from './kinds.ts';

/** An option of the environment, the command line, or both. */
export interface Option<T> {
  /** Name of the variable; null where there is only a flag. */
  readonly env: string | null;
  /** Name of the flag without dashes; null for a secret, since every user of a machine can see command lines. */
  readonly flag: string | null;
  readonly kind: Kind<T>;
  readonly help: string;
  /** The option whose value, a secret, is in the file that this one names. */
  readonly holds?: string;
}

export interface OptionWithDefault<T> extends Option<T> {
  readonly fallback: T;
}

/** A setting with a variable and the flag of the same name: `KAFKA_GROUP_ID` and `--kafka-group-id`. */
function setting<T>(env: string, kind: Kind<T>, help: string): Option<T> {
  return { env, flag: env.toLowerCase().replaceAll('_', '-'), kind, help };
}

/** The same option with a default. */
export function withDefault<T>(option: Option<T>, fallback: NoInfer<T>): OptionWithDefault<T> {
  return { ...option, fallback };
}

function secret(env: string, help: string): Option<string> {
  return { env, flag: null, kind: text, help };
}

/** The file that holds a secret, as orchestrators mount it. @param holds the option of that secret */
function secretFile(env: string, holds: string): Option<string> {
  return { ...setting(`${env}_FILE`, text, `file that holds ${env}`), holds };
}

/** A flag that only some commands have, such as `--rate` of `feed`. */
export function commandFlag<T>(flag: string, kind: Kind<T>, help: string): Option<T> {
  return { env: null, flag, kind, help };
}

/** `host:port`, also `[::1]:9092`. */
const brokerList = commaList('brokers as host:port', (broker) => {
  const port = /^(?:[^\s:/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(broker)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
});

/** A user or password inside the URL would reach logs and error messages. */
const registryUrl = textOf('an http or https URL without user and password in it', (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return fits ? value : undefined;
});

/** The client's secret is sent there. */
const tokenUrl = textOf('an https URL, or an http URL of this machine, without user and password in it', (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  const isHere = url.protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? value : undefined;
});

/** SASL extensions (RFC 7628): letters, and printable values. */
const saslExtensions = textOf('NAME=VALUE, separated by commas', (value) => {
  const pairs = value.split(',').map((part) => /^ *([A-Za-z]+)=([\x21-\x7e]+) *$/.exec(part));
  if (pairs.some((pair) => pair === null || pair[1] === 'auth')) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) as Readonly<Record<string, string>>;
});

const postgresUrl = textOf('a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE', (value) => {
  return URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol) ? value : undefined;
});

/** What `Authorization: Bearer` can carry, too long to be guessed. */
const bearerToken = textMatching('24 or more characters of printable ASCII without spaces', /^[\x21-\x7e]{24,}$/);

const networks = commaList('addresses or networks such as 10.0.0.0/8', (part) => {
  const [address, bits, ...more] = part.split('/');
  const version = isIP(address);
  const bitsMax = version === 4 ? 32 : 128;
  return (
    version !== 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))
  );
});

const origins = commaList('origins such as https://example.com, or *', (part) => {
  return part === '*' || (/^https?:/.test(part) && URL.canParse(part) && new URL(part).origin === part);
});

const logLevel = oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent') satisfies Kind<LogLevel>;
const mechanism = oneOf('plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer');
const limit = (max: number) => integerFrom(1, max);

/** How to reach Kafka. */
export const kafkaOptions = {
  brokers: setting('KAFKA_BROKERS', brokerList, 'host:port, separated by commas'),
  clientId: withDefault(setting('KAFKA_CLIENT_ID', text, 'name shown to the brokers'), 'tidewatch'),
  tls: withDefault(setting('KAFKA_TLS', boolean, 'use TLS to the brokers'), false),
  tlsCa: setting('KAFKA_TLS_CA', text, 'PEM file of the authority that signed the brokers'),
  tlsCert: setting('KAFKA_TLS_CERT', text, 'PEM file of the client certificate'),
  tlsKey: setting('KAFKA_TLS_KEY', text, 'PEM file of the client key'),
  tlsRejectUnauthorized: withDefault(
    setting('KAFKA_TLS_REJECT_UNAUTHORIZED', boolean, 'false accepts any certificate'),
    true,
  ),
  saslMechanism: setting('KAFKA_SASL_MECHANISM', mechanism, mechanism.expected),
  saslUsername: setting('KAFKA_SASL_USERNAME', text, 'user of the brokers'),
  saslPassword: secret('KAFKA_SASL_PASSWORD', 'password of that user'),
  saslPasswordFile: secretFile('KAFKA_SASL_PASSWORD', 'saslPassword'),
  saslTokenFile: setting('KAFKA_SASL_TOKEN_FILE', text, 'oauthbearer: file with a token, read at each login'),
  saslTokenUrl: setting('KAFKA_SASL_TOKEN_URL', tokenUrl, 'oauthbearer: where tokens are requested'),
  saslClientId: setting('KAFKA_SASL_CLIENT_ID', text, 'client that requests tokens'),
  saslClientSecret: secret('KAFKA_SASL_CLIENT_SECRET', 'secret of that client'),
  saslClientSecretFile: secretFile('KAFKA_SASL_CLIENT_SECRET', 'saslClientSecret'),
  saslScope: setting('KAFKA_SASL_SCOPE', text, 'scope of the tokens'),
  saslExtensions: setting('KAFKA_SASL_EXTENSIONS', saslExtensions, 'oauthbearer: NAME=VALUE for the brokers'),
};

export const registryOptions = {
  registryUrl: setting('SCHEMA_REGISTRY_URL', registryUrl, 'schema registry, for formats other than json'),
  registryUsername: setting('SCHEMA_REGISTRY_USERNAME', text, 'user of the schema registry'),
  registryPassword: secret('SCHEMA_REGISTRY_PASSWORD', 'password of that user'),
  registryPasswordFile: secretFile('SCHEMA_REGISTRY_PASSWORD', 'registryPassword'),
};

/**
 * The limits of a worker; under `worker` in the detectors file they have the same names, in lower case and without
 * `KAFKA_`.
 */
export const workerLimits: { readonly [K in keyof WorkerLimits]: Option<number> & { readonly fallback?: number } } = {
  commitIntervalMs: withDefault(
    setting('KAFKA_COMMIT_INTERVAL_MS', integerFrom(10, 60_000), 'ms between transactions'),
    50,
  ),
  commitRecordsMax: withDefault(
    setting('KAFKA_COMMIT_RECORDS_MAX', limit(100_000), 'input records in a transaction'),
    5_000,
  ),
  transactionsPerSMax: withDefault(
    setting('TRANSACTIONS_PER_S_MAX', limit(100_000), 'transactions a second of a worker'),
    500,
  ),
  backfillForecastsPerSMax: withDefault(
    setting('BACKFILL_FORECASTS_PER_S_MAX', limit(1_000_000), 'forecasts a second of backfills in a worker'),
    2_000,
  ),
  queueRecordsMax: withDefault(
    setting('QUEUE_RECORDS_MAX', limit(10_000_000), 'waiting records that pause a partition'),
    20_000,
  ),
  seriesMax: withDefault(
    setting('SERIES_MAX', limit(10_000_000), 'series of a partition; the longest idle is evicted'),
    100_000,
  ),
  memoryMbMax: withDefault(
    setting('MEMORY_MB_MAX', integerFrom(0, 10_000_000), 'MiB of memory at which partitions pause; 0: no limit'),
    0,
  ),
  inferenceThreads: setting('INFERENCE_THREADS', limit(256), 'threads that run the model (default: one a processor)'),
  shutdownMsMax: withDefault(
    setting('SHUTDOWN_MS_MAX', integerFrom(100, 600_000), 'ms an orderly end may take'),
    10_000,
  ),
  startWaitMs: withDefault(
    setting('START_WAIT_MS', integerFrom(0, 3_600_000), 'ms that a starting worker waits for its brokers'),
    60_000,
  ),
  sessionMs: withDefault(
    setting('KAFKA_SESSION_MS', integerFrom(1_000, 600_000), 'ms after which a silent worker is gone'),
    10_000,
  ),
};

/** Settings of every command that works on a stream. */
export const streamOptions = {
  detectors: setting('DETECTORS', text, 'detectors file (YAML)'),
  groupId: withDefault(setting('KAFKA_GROUP_ID', text, 'consumer group'), 'tidewatch'),
};

export const processOptions = {
  opsHost: withDefault(setting('OPS_HOST', text, 'address of health, readiness and metrics'), '127.0.0.1'),
  opsPort: withDefault(setting('OPS_PORT', integerFrom(0, 65_535), 'their port; 0 takes any free one'), 9464),
  dataDir: withDefault(setting('DATA_DIR', text, 'folder of what must outlive the process'), './data'),
  modelsDir: setting('MODELS_DIR', text, 'folder of further models'),
  logLevel: withDefault(setting('LOG_LEVEL', logLevel, logLevel.expected), 'info'),
};

/** Who is notified of events. */
export const alertOptions = {
  routes: setting('ROUTES', text, 'routes file (YAML): which events go to which receivers'),
};

/** Where keys, credits, jobs and fine-tuned models are kept. */
export const storeOptions = {
  storeUrl: {
    ...secret('STORE_URL', 'Postgres that replicas share, postgres://…; unset: SQLite in DATA_DIR'),
    kind: postgresUrl,
  },
  storeUrlFile: secretFile('STORE_URL', 'storeUrl'),
};

/** Where scores and events are kept for looking at, and how many. */
export const historyOptions = {
  historyDays: withDefault(setting('HISTORY_DAYS', integerFrom(1, 3_650), 'days that scores and events are kept'), 14),
  historyGb: withDefault(setting('HISTORY_GB', integerFrom(1, 100_000), 'GB that they may take'), 10),
  historyMemoryMb: withDefault(
    setting('HISTORY_MEMORY_MB', integerFrom(64, 1_048_576), 'MiB of memory of DuckDB, beyond which it sorts on disk'),
    256,
  ),
  historyUrl: {
    ...secret('HISTORY_URL', 'Postgres of the history that replicas share, postgres://…; unset: DuckDB in DATA_DIR'),
    kind: postgresUrl,
  },
  historyUrlFile: secretFile('HISTORY_URL', 'historyUrl'),
};

/** Where versions of the detectors file are published. */
export const detectorsOptions = {
  detectorsTopic: withDefault(
    setting('DETECTORS_TOPIC', text, 'topic of detectors that are saved over HTTP'),
    'tidewatch-detectors',
  ),
};

/** Every setting of what scores a stream. */
/** As Kafka demands it. */
const instanceId = textMatching(
  'at most 249 letters, digits, dots, hyphens and underscores',
  /^[a-zA-Z0-9._-]{1,249}$/,
);

export const workerOptions = {
  ...kafkaOptions,
  ...registryOptions,
  ...workerLimits,
  ...streamOptions,
  groupInstanceId: setting('KAFKA_GROUP_INSTANCE_ID', instanceId, 'id of a static member of the group'),
  ...processOptions,
  // Detectors may run on fine-tuned models.
  ...storeOptions,
};

/** Settings of the HTTP sidecar. */
export const httpOptions = {
  httpHost: withDefault(setting('HTTP_HOST', text, 'address of the HTTP interface'), '127.0.0.1'),
  httpPort: withDefault(setting('HTTP_PORT', integerFrom(0, 65_535), 'its port; 0 takes any free one'), 8080),
  apiKey: {
    ...secret(
      'TIDEWATCH_API_KEY',
      'the first key, an admin; it replaces the earlier first key (unset: one is made where there is none)',
    ),
    kind: bearerToken,
  },
  apiKeyFile: secretFile('TIDEWATCH_API_KEY', 'apiKey'),
  httpTlsCert: setting('HTTP_TLS_CERT', text, 'PEM file of the certificate; with it the interface uses HTTPS'),
  httpTlsKey: setting('HTTP_TLS_KEY', text, 'PEM file of its key'),
  httpTrustedProxies: setting('HTTP_TRUSTED_PROXIES', networks, 'proxies whose X-Forwarded-For is believed'),
  httpCorsOrigins: setting('HTTP_CORS_ORIGINS', origins, 'origins of web pages that may call the interface, or *'),
  httpConnectionsMax: withDefault(setting('HTTP_CONNECTIONS_MAX', limit(1_000_000), 'open connections'), 1_000),
  httpConnectionsPerAddressMax: withDefault(
    setting('HTTP_CONNECTIONS_PER_ADDRESS_MAX', limit(1_000_000), 'open connections of one address'),
    500,
  ),
  drainMs: withDefault(
    setting('DRAIN_MS', integerFrom(0, 600_000), 'ms of listening after SIGTERM, already not ready'),
    5_000,
  ),
  ...storeOptions,
  jobsInFlightMax: withDefault(
    setting('JOBS_IN_FLIGHT_MAX', limit(1_000_000), 'jobs that wait or run; beyond it: 429'),
    1_000,
  ),
  jobMemoryMbMax: withDefault(
    setting('JOB_MEMORY_MB_MAX', integerFrom(256, 1_000_000), 'MiB that a job may hold'),
    4_096,
  ),
  finetunedModelsMax: withDefault(
    setting('FINETUNED_MODELS_MAX', limit(1_000_000), 'fine-tuned models of an owner; one more: 422'),
    50,
  ),
};

/** Every setting of the environment. */
export const options = { ...workerOptions, ...httpOptions, ...historyOptions, ...detectorsOptions, ...alertOptions };
