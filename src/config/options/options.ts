import { boolean, integerFrom, text, wordOr } from '../schema/kinds.ts';
import { identityOptions } from './identity-options.ts';
import { listedFirst, secret, secretFile, setting } from './option.ts';
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
  port,
  postgresUrl,
  saslExtensions,
  tokenUrl,
} from './option-kinds.ts';
import { remoteWriteOptions, scoresOptions } from './prometheus-options.ts';
import { changeOptions, detectorsOptions, incidentOptions } from './topic-options.ts';

export const kafkaOptions = {
  brokers: listedFirst(setting('KAFKA_BROKERS', brokerList, 'brokers as host:port, separated by commas')),
  clientId: setting('KAFKA_CLIENT_ID', text, 'name shown to the brokers', 'tidewatch'),
  tls: setting('KAFKA_TLS', boolean, 'true: connect to the brokers by TLS', false),
  tlsCa: setting('KAFKA_TLS_CA', text, "PEM file of the authority of the brokers' certificates"),
  tlsCert: setting('KAFKA_TLS_CERT', text, 'PEM file of the client certificate'),
  tlsKey: setting('KAFKA_TLS_KEY', text, 'PEM file of the client key'),
  tlsRejectUnauthorized: setting('KAFKA_TLS_REJECT_UNAUTHORIZED', boolean, 'false accepts any certificate', true),
  saslMechanism: setting('KAFKA_SASL_MECHANISM', mechanism, `SASL mechanism: ${mechanism.expected}`),
  saslUsername: setting('KAFKA_SASL_USERNAME', text, 'user name for SASL'),
  saslPassword: secret('KAFKA_SASL_PASSWORD', 'password of that user'),
  saslPasswordFile: secretFile('KAFKA_SASL_PASSWORD', 'saslPassword'),
  saslTokenFile: setting(
    'KAFKA_SASL_TOKEN_FILE',
    text,
    'oauthbearer: file with the current token, read at each login; replaces the token endpoint',
  ),
  saslTokenUrl: setting('KAFKA_SASL_TOKEN_URL', tokenUrl, 'oauthbearer: token endpoint of the client credentials flow'),
  saslClientId: setting('KAFKA_SASL_CLIENT_ID', text, 'client that requests tokens'),
  saslClientSecret: secret('KAFKA_SASL_CLIENT_SECRET', 'secret of that client'),
  saslClientSecretFile: secretFile('KAFKA_SASL_CLIENT_SECRET', 'saslClientSecret'),
  saslScope: setting('KAFKA_SASL_SCOPE', text, 'scope of the requested tokens'),
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
    'value of the header Authorization for queries of Prometheus, such as Bearer TOKEN',
    headerValue,
  ),
  prometheusAuthorizationFile: secretFile('PROMETHEUS_AUTHORIZATION', 'prometheusAuthorization'),
  prometheusHeaders: secret(
    'PROMETHEUS_HEADERS',
    'further headers of these queries, NAME=VALUE separated by commas, such as X-Scope-OrgID=team-a',
    httpHeaders,
  ),
  prometheusHeadersFile: secretFile('PROMETHEUS_HEADERS', 'prometheusHeaders'),
};

/**
 * The limits of a worker; under `worker` in the detectors file they have the same names, in lower case and without
 * `KAFKA_`.
 */
export const workerLimits = {
  commitIntervalMs: setting(
    'KAFKA_COMMIT_INTERVAL_MS',
    integerFrom(10, 60_000),
    'ms between the transactions of a partition',
    50,
  ),
  commitRecordsMax: setting('KAFKA_COMMIT_RECORDS_MAX', limit(100_000), 'most input records in a transaction', 5_000),
  transactionsPerSMax: setting(
    'TRANSACTIONS_PER_S_MAX',
    limit(100_000),
    'most transactions a second of a worker; beyond it, all its partitions commit less often',
    500,
  ),
  backfillForecastsPerSMax: setting(
    'BACKFILL_FORECASTS_PER_S_MAX',
    limit(1_000_000),
    'most forecasts a second that a worker makes to recalibrate series after a change of settings',
    2_000,
  ),
  queueRecordsMax: setting(
    'QUEUE_RECORDS_MAX',
    limit(10_000_000),
    'waiting records at which a partition is paused',
    20_000,
  ),
  seriesMax: setting(
    'SERIES_MAX',
    limit(10_000_000),
    'most series of a partition; beyond it, the longest idle one is evicted',
    100_000,
  ),
  memoryMbMax: setting(
    'MEMORY_MB_MAX',
    integerFrom(0, 10_000_000),
    'MiB of memory at which a worker pauses its partitions; 0: no limit',
    0,
  ),
  inferenceThreads: setting('INFERENCE_THREADS', limit(256), 'threads that run the model (default: one per processor)'),
  shutdownMsMax: setting('SHUTDOWN_MS_MAX', integerFrom(100, 600_000), 'ms that an orderly shutdown may take', 10_000),
  startWaitMs: setting(
    'START_WAIT_MS',
    integerFrom(0, 3_600_000),
    'ms that a process waits for Kafka at its start before it exits with 1',
    60_000,
  ),
  sessionMs: setting(
    'KAFKA_SESSION_MS',
    integerFrom(1_000, 600_000),
    'ms without a heartbeat after which the partitions of a worker are reassigned',
    10_000,
  ),
};

export type WorkerLimits = { readonly [K in keyof typeof workerLimits]: number };

/** Settings of every command that works on a stream. */
export const streamOptions = {
  detectors: listedFirst(setting('DETECTORS', text, 'path of the detectors file (YAML)')),
  groupId: setting('KAFKA_GROUP_ID', text, 'consumer group, and prefix of derived names', 'tidewatch'),
};

export const processOptions = {
  opsHost: setting('OPS_HOST', text, 'address of health, readiness and metrics', '127.0.0.1'),
  opsPort: listedFirst(
    setting('OPS_PORT', port, 'port of health and metrics; 0: any free port; unset: 9464 or the next free', 9464),
  ),
  dataDir: listedFirst(setting('DATA_DIR', text, 'folder for data that must survive a restart', './data')),
  modelsDir: setting('MODELS_DIR', text, 'folder of your own models'),
  logLevel: setting('LOG_LEVEL', logLevel, `${logLevel.expected}; logs are JSON lines without secrets`, 'info'),
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
  historyDays: setting('HISTORY_DAYS', integerFrom(1, 3_650), 'days for which serve keeps scores and events', 14),
  historyGb: setting('HISTORY_GB', integerFrom(1, 100_000), 'GB that this history may take', 10),
  historyMemoryMb: setting(
    'HISTORY_MEMORY_MB',
    integerFrom(64, 1_048_576),
    'MiB of memory for DuckDB; beyond it, it sorts on disk',
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
    'id of the worker as a static member of its group, different for each worker, such as the name of its pod',
  ),
  ...processOptions,
  // Detectors may run on fine-tuned models.
  ...storeOptions,
};

/** The listener of `receive` next to HTTP. */
export const receiveOptions = {
  grpcPort: setting(
    'GRPC_PORT',
    wordOr('off', port),
    'port of OTLP over gRPC, at HTTP_HOST and with the TLS of HTTP; 0: any free port; off: none',
    4317,
  ),
};

export const httpOptions = {
  httpHost: setting('HTTP_HOST', text, 'address of the HTTP service', '127.0.0.1'),
  httpPort: listedFirst(setting('HTTP_PORT', port, 'port of the HTTP service; 0: any free port', 8080)),
  apiKey: secret(
    'TIDEWATCH_API_KEY',
    'admin key of at least 24 characters; a new value revokes the key of the previous one. Unset: if there is no ' +
      'key, one is created and shown once',
    bearerSecret,
  ),
  apiKeyFile: secretFile('TIDEWATCH_API_KEY', 'apiKey'),
  httpTlsCert: setting(
    'HTTP_TLS_CERT',
    text,
    'PEM file of the certificate; with it, the service uses HTTPS. It is read again when it changes',
  ),
  httpTlsKey: setting('HTTP_TLS_KEY', text, 'PEM file of the key of that certificate'),
  httpTrustedProxies: setting(
    'HTTP_TRUSTED_PROXIES',
    networks,
    'addresses and networks of proxies, separated by commas: their X-Forwarded-For is trusted, and ' +
      'HTTP_CONNECTIONS_PER_ADDRESS_MAX does not apply to them',
  ),
  httpCorsOrigins: setting(
    'HTTP_CORS_ORIGINS',
    origins,
    'origins of web pages that may call the service, separated by commas, or *',
  ),
  httpConnectionsMax: setting('HTTP_CONNECTIONS_MAX', limit(1_000_000), 'most open connections', 1_000),
  httpConnectionsPerAddressMax: setting(
    'HTTP_CONNECTIONS_PER_ADDRESS_MAX',
    limit(1_000_000),
    'most open connections of one address',
    500,
  ),
  drainMs: setting('DRAIN_MS', integerFrom(0, 600_000), 'ms of listening after SIGTERM, without being ready', 5_000),
  jobsInFlightMax: setting(
    'JOBS_IN_FLIGHT_MAX',
    limit(1_000_000),
    'most unfinished jobs of an owner; one more: 429',
    1_000,
  ),
  jobMemoryMbMax: setting(
    'JOB_MEMORY_MB_MAX',
    integerFrom(256, 1_000_000),
    'MiB of memory of each process that runs jobs',
    4_096,
  ),
  finetunedModelsMax: setting(
    'FINETUNED_MODELS_MAX',
    limit(1_000_000),
    'most fine-tuned models of an owner; one more: 422',
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
