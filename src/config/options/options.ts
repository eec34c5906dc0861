import { boolean, integerFrom, text, wordOr } from '../schema/kinds.ts';
import { identityOptions } from './identity-options.ts';
import { listedFirst, secret, secretFile, setting, withDefault } from './option.ts';
import {
  bearerSecret,
  brokerList,
  headerValue,
  httpHeaders,
  httpUrl,
  instanceId,
  limit,
  logLevel,
  mechanism,
  networks,
  origins,
  postgresUrl,
  saslExtensions,
  tokenUrl,
} from './option-kinds.ts';
import { remoteWriteOptions, scoresOptions } from './prometheus-options.ts';
import { changeOptions, detectorsOptions, incidentOptions } from './topic-options.ts';

export const kafkaOptions = {
  brokers: listedFirst(setting('KAFKA_BROKERS', brokerList, 'host:port, separated by commas')),
  clientId: withDefault(setting('KAFKA_CLIENT_ID', text, 'name shown to the brokers'), 'tidewatch'),
  tls: withDefault(setting('KAFKA_TLS', boolean, 'true: TLS to the brokers'), false),
  tlsCa: setting('KAFKA_TLS_CA', text, 'PEM file of the authority that signed the brokers'),
  tlsCert: setting('KAFKA_TLS_CERT', text, 'PEM file of the client certificate'),
  tlsKey: setting('KAFKA_TLS_KEY', text, 'PEM file of the client key'),
  tlsRejectUnauthorized: withDefault(
    setting('KAFKA_TLS_REJECT_UNAUTHORIZED', boolean, 'false accepts any certificate'),
    true,
  ),
  saslMechanism: setting('KAFKA_SASL_MECHANISM', mechanism, `how to log in: ${mechanism.expected}`),
  saslUsername: setting('KAFKA_SASL_USERNAME', text, 'user of the brokers'),
  saslPassword: secret('KAFKA_SASL_PASSWORD', 'password of that user'),
  saslPasswordFile: secretFile('KAFKA_SASL_PASSWORD', 'saslPassword'),
  saslTokenFile: setting(
    'KAFKA_SASL_TOKEN_FILE',
    text,
    'oauthbearer: file with the present token, read at each login, instead of an endpoint',
  ),
  saslTokenUrl: setting('KAFKA_SASL_TOKEN_URL', tokenUrl, 'oauthbearer: token endpoint of the client credentials flow'),
  saslClientId: setting('KAFKA_SASL_CLIENT_ID', text, 'client that requests tokens'),
  saslClientSecret: secret('KAFKA_SASL_CLIENT_SECRET', 'secret of that client'),
  saslClientSecretFile: secretFile('KAFKA_SASL_CLIENT_SECRET', 'saslClientSecret'),
  saslScope: setting('KAFKA_SASL_SCOPE', text, 'scope of the tokens'),
  saslExtensions: setting(
    'KAFKA_SASL_EXTENSIONS',
    saslExtensions,
    'oauthbearer: NAME=VALUE for the brokers, separated by commas, such as logicalCluster=lkc-1',
  ),
};

export const registryOptions = {
  registryUrl: setting('SCHEMA_REGISTRY_URL', httpUrl, 'URL of the schema registry, for formats other than json'),
  registryUsername: setting('SCHEMA_REGISTRY_USERNAME', text, 'user of the schema registry'),
  registryPassword: secret('SCHEMA_REGISTRY_PASSWORD', 'password of that user'),
  registryPasswordFile: secretFile('SCHEMA_REGISTRY_PASSWORD', 'registryPassword'),
};

/** Headers of every request to the Prometheus that is polled; a source may have further ones. */
export const prometheusOptions = {
  prometheusAuthorization: secret(
    'PROMETHEUS_AUTHORIZATION',
    'value of the header Authorization for the Prometheus that is polled, such as Bearer TOKEN',
    headerValue,
  ),
  prometheusAuthorizationFile: secretFile('PROMETHEUS_AUTHORIZATION', 'prometheusAuthorization'),
  prometheusHeaders: secret(
    'PROMETHEUS_HEADERS',
    'further headers for it, NAME=VALUE separated by commas, such as X-Scope-OrgID=team-a',
    httpHeaders,
  ),
  prometheusHeadersFile: secretFile('PROMETHEUS_HEADERS', 'prometheusHeaders'),
};

/**
 * The limits of a worker; under `worker` in the detectors file they have the same names, in lower case and without
 * `KAFKA_`.
 */
export const workerLimits = {
  commitIntervalMs: withDefault(
    setting('KAFKA_COMMIT_INTERVAL_MS', integerFrom(10, 60_000), 'ms between transactions'),
    50,
  ),
  commitRecordsMax: withDefault(
    setting('KAFKA_COMMIT_RECORDS_MAX', limit(100_000), 'input records in a transaction'),
    5_000,
  ),
  transactionsPerSMax: withDefault(
    setting(
      'TRANSACTIONS_PER_S_MAX',
      limit(100_000),
      'transactions a second of a worker; above it the interval stretches for all its partitions',
    ),
    500,
  ),
  backfillForecastsPerSMax: withDefault(
    setting(
      'BACKFILL_FORECASTS_PER_S_MAX',
      limit(1_000_000),
      'forecasts a second of a worker that calibrate series again after a change of settings',
    ),
    2_000,
  ),
  queueRecordsMax: withDefault(
    setting('QUEUE_RECORDS_MAX', limit(10_000_000), 'waiting records of a partition at which it is paused'),
    20_000,
  ),
  seriesMax: withDefault(
    setting('SERIES_MAX', limit(10_000_000), 'series of a partition; the longest idle is evicted'),
    100_000,
  ),
  memoryMbMax: withDefault(
    setting(
      'MEMORY_MB_MAX',
      integerFrom(0, 10_000_000),
      'MiB of memory of a worker at which its partitions pause; 0: no limit',
    ),
    0,
  ),
  inferenceThreads: setting('INFERENCE_THREADS', limit(256), 'threads that run the model (default: one a processor)'),
  shutdownMsMax: withDefault(
    setting('SHUTDOWN_MS_MAX', integerFrom(100, 600_000), 'ms an orderly end may take'),
    10_000,
  ),
  startWaitMs: withDefault(
    setting(
      'START_WAIT_MS',
      integerFrom(0, 3_600_000),
      'ms that a process waits at its start for a broker that answers; then it ends with 1',
    ),
    60_000,
  ),
  sessionMs: withDefault(
    setting(
      'KAFKA_SESSION_MS',
      integerFrom(1_000, 600_000),
      'ms after which the partitions of a silent worker go to others',
    ),
    10_000,
  ),
};

export type WorkerLimits = { readonly [K in keyof typeof workerLimits]: number };

/** Settings of every command that works on a stream. */
export const streamOptions = {
  detectors: listedFirst(setting('DETECTORS', text, 'path of the detectors file (YAML)')),
  groupId: withDefault(setting('KAFKA_GROUP_ID', text, 'consumer group'), 'tidewatch'),
};

export const processOptions = {
  opsHost: withDefault(setting('OPS_HOST', text, 'address of health, readiness and metrics'), '127.0.0.1'),
  opsPort: listedFirst(
    withDefault(
      setting('OPS_PORT', integerFrom(0, 65_535), 'their port; 0: any free one; unset: 9464 or the next'),
      9464,
    ),
  ),
  dataDir: listedFirst(withDefault(setting('DATA_DIR', text, 'folder of what must outlive the process'), './data')),
  modelsDir: setting('MODELS_DIR', text, 'folder of models of your own'),
  logLevel: withDefault(
    setting('LOG_LEVEL', logLevel, `${logLevel.expected}; logs are JSON lines without secrets`),
    'info',
  ),
};

export const alertOptions = {
  routes: listedFirst(setting('ROUTES', text, 'path of the routes file (YAML): which events go to which receivers')),
};

/** Store of keys, credits, jobs and fine-tuned models. */
export const storeOptions = {
  storeUrl: secret(
    'STORE_URL',
    'Postgres that replicas share, postgres://USER:PASSWORD@HOST:5432/DATABASE; unset: SQLite in DATA_DIR',
    postgresUrl,
  ),
  storeUrlFile: secretFile('STORE_URL', 'storeUrl'),
};

export const historyOptions = {
  historyDays: withDefault(
    setting('HISTORY_DAYS', integerFrom(1, 3_650), 'days that serve keeps scores and events'),
    14,
  ),
  historyGb: withDefault(setting('HISTORY_GB', integerFrom(1, 100_000), 'GB that they may take'), 10),
  historyMemoryMb: withDefault(
    setting('HISTORY_MEMORY_MB', integerFrom(64, 1_048_576), 'MiB of memory of DuckDB, beyond which it sorts on disk'),
    256,
  ),
};

/** Every setting of what scores a stream. */
export const workerOptions = {
  ...kafkaOptions,
  ...registryOptions,
  ...workerLimits,
  ...streamOptions,
  groupInstanceId: setting(
    'KAFKA_GROUP_INSTANCE_ID',
    instanceId,
    'id of a static member of its group; one of its own for each worker, such as the name of its pod',
  ),
  ...processOptions,
  // Detectors may run on fine-tuned models.
  ...storeOptions,
};

/** The listener of `receive` next to HTTP. */
export const receiveOptions = {
  grpcPort: withDefault(
    setting(
      'GRPC_PORT',
      wordOr('off', integerFrom(0, 65_535)),
      'port of OTLP over gRPC, at HTTP_HOST and with its TLS; 0: any free one; off: none',
    ),
    4317,
  ),
};

export const httpOptions = {
  httpHost: withDefault(setting('HTTP_HOST', text, 'address of the HTTP interface'), '127.0.0.1'),
  httpPort: listedFirst(withDefault(setting('HTTP_PORT', integerFrom(0, 65_535), 'its port; 0: any free one'), 8080)),
  apiKey: secret(
    'TIDEWATCH_API_KEY',
    'an admin key of at least 24 characters. The key that an earlier value made is revoked. Unset: one is made where ' +
      'there is none, and shown once',
    bearerSecret,
  ),
  apiKeyFile: secretFile('TIDEWATCH_API_KEY', 'apiKey'),
  httpTlsCert: setting(
    'HTTP_TLS_CERT',
    text,
    'PEM file of the certificate: the interface uses HTTPS. It is read again when it changes',
  ),
  httpTlsKey: setting('HTTP_TLS_KEY', text, 'PEM file of its key'),
  httpTrustedProxies: setting(
    'HTTP_TRUSTED_PROXIES',
    networks,
    'addresses and networks of proxies, separated by commas: their X-Forwarded-For names the client, and ' +
      'HTTP_CONNECTIONS_PER_ADDRESS_MAX does not hold for them',
  ),
  httpCorsOrigins: setting(
    'HTTP_CORS_ORIGINS',
    origins,
    'origins of web pages that may call the interface, separated by commas, or *',
  ),
  httpConnectionsMax: withDefault(setting('HTTP_CONNECTIONS_MAX', limit(1_000_000), 'open connections'), 1_000),
  httpConnectionsPerAddressMax: withDefault(
    setting('HTTP_CONNECTIONS_PER_ADDRESS_MAX', limit(1_000_000), 'open connections of one address'),
    500,
  ),
  drainMs: withDefault(
    setting('DRAIN_MS', integerFrom(0, 600_000), 'ms of listening after SIGTERM, already not ready'),
    5_000,
  ),
  jobsInFlightMax: withDefault(
    setting('JOBS_IN_FLIGHT_MAX', limit(1_000_000), 'jobs of an owner that wait or run; beyond it: 429'),
    1_000,
  ),
  jobMemoryMbMax: withDefault(
    setting('JOB_MEMORY_MB_MAX', integerFrom(256, 1_000_000), 'MiB of memory of each process that runs jobs'),
    4_096,
  ),
  finetunedModelsMax: withDefault(
    setting('FINETUNED_MODELS_MAX', limit(1_000_000), 'fine-tuned models of an owner; one more: 422'),
    50,
  ),
};

/** Every setting of the environment. */
export const options = {
  ...workerOptions,
  ...prometheusOptions,
  ...httpOptions,
  ...receiveOptions,
  ...identityOptions,
  ...historyOptions,
  ...scoresOptions,
  ...remoteWriteOptions,
  ...detectorsOptions,
  ...changeOptions,
  ...incidentOptions,
  ...alertOptions,
};
